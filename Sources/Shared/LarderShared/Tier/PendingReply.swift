package import Larder
import Synchronization

/// A caller's wait for one reply. Only the first outcome counts; a late reply keeps its place in the order of the connection.
package final class PendingReply: Sendable {
  private struct State {
    var outcome: Result<Reply, LarderError>?
    /// Whether the command was sent, so that the server may carry it out.
    var isSent = false
    var continuation: CheckedContinuation<Result<Reply, LarderError>, Never>?
  }
  private let state = Mutex(State())

  package init() {}

  /// - Parameter ifUnsent: if true, does nothing after the command was sent.
  package func complete(_ outcome: Result<Reply, LarderError>, ifUnsent: Bool = false) {
    let continuation = state.withLock {
      state -> CheckedContinuation<Result<Reply, LarderError>, Never>? in
      if state.outcome != nil || ifUnsent && state.isSent { return nil }
      state.outcome = outcome
      defer { state.continuation = nil }
      return state.continuation
    }
    continuation?.resume(returning: outcome)
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
    let outcome = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let outcome = state.withLock { state in
          if state.outcome == nil { state.continuation = continuation }
          return state.outcome
        }
        if let outcome { continuation.resume(returning: outcome) }
      }
    } onCancel: {
      complete(.failure(LarderError(.unanswered, "the task was cancelled before the reply")))
    }
    return try outcome.get()
  }
}
