public import LarderHTTPTesting
import TestSupport

extension LocalServer {
  /// Answers with `answer`, but requests that `isHeld` chooses wait until the returned gate is open.
  public func hold(
    _ isHeld: @escaping @Sendable (Received) -> Bool = { _ in true },
    answer: @escaping @Sendable (Received) -> Answer
  ) -> Gate {
    let gate = Gate()
    become { request in
      if isHeld(request) { await gate.pass() }
      return answer(request)
    }
    return gate
  }

  /// Waits until so many requests have arrived that `isCounted` chooses.
  public func wait(for count: Int, _ isCounted: (Received) -> Bool = { _ in true }) async throws {
    do { try await waitUntil { received.count(where: isCounted) >= count } } catch is NeverTrue {
      throw Missing(count: count, received: received.map(\.path))
    }
  }

  /// Requests that did not arrive.
  public struct Missing: Error {
    public var count: Int
    public var received: [String]
  }
}
