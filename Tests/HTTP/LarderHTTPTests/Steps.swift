import Synchronization

@testable import LarderHTTP

extension HTTPBody {
  init(_ text: String) { self.init(Array(text.utf8)) }

  /// All bytes of the body as text.
  func text() async throws -> String { String(decoding: try await bytes(), as: UTF8.self) }

  typealias Step = @Sendable () async throws -> [UInt8]

  /// A body whose pieces come from these steps in order.
  static func steps(_ steps: [Step]) -> HTTPBody {
    let rest = Mutex(steps[...])
    return HTTPBody(next: { try await rest.withLock { $0.popFirst() }?() })
  }

  /// Five pieces of 1000 bytes.
  static var pieces: HTTPBody {
    steps((0..<5).map { number in { [UInt8](repeating: number, count: 1000) } })
  }
}

extension Gate {
  /// Opens the gate, and then waits until the task is cancelled.
  func openAndStall() async throws -> Never {
    open()
    try await Task.sleep(for: .seconds(1_000_000))
    fatalError("nobody has cancelled this")
  }
}
