package import Larder
import LarderSystem
import Synchronization

/// A caller's wait for one reply. Only the first outcome counts; a late reply keeps its place in the order of the connection.
package final class PendingReply: Sendable {
  private struct State {
    var outcome: Result<Reply, LarderError>?
    /// Whether the command was sent, so that the server may carry it out.
    var isSent = false
  }

  private static let cancelled = LarderError(.unanswered, "the task was cancelled before the reply")
  private let state = Mutex(State())
  private let waiters = Waiters<Void>()

  package init() {}

  /// - Parameter ifUnsent: if true, does nothing after the command was sent.
  package func complete(_ outcome: Result<Reply, LarderError>, ifUnsent: Bool = false) {
    state.withLock { state in
      if ifUnsent && state.isSent { return }
      state.outcome = state.outcome ?? outcome
    }
    waiters.resume()
  }

  /// Call this method just before the command is sent. If the result is false, the caller no longer waits, so do not send.
  package func markSent() -> Bool {
    state.withLock { state in
      if state.outcome == nil { state.isSent = true }
      return state.outcome == nil
    }
  }

  /// Waits for the outcome. The wait ends if the task is cancelled.
  package func value() async throws(LarderError) -> Reply {
    _ = await waiters.wait(
      unless: { state.withLock { $0.outcome != nil ? () : nil } },
      onCancel: { complete(.failure(Self.cancelled)) })
    // A task that was cancelled before it waited may continue before the cancellation is the outcome.
    return try (state.withLock { $0.outcome } ?? .failure(Self.cancelled)).get()
  }
}
