import Larder
import Synchronization

/// Keeps requests away from a tier that fails: after five failures in a row no request is sent for a while, at most one second
/// at first and at most 30 seconds later. Then one request tries the tier.
final class Breaker: Sendable {
  static let mostFailures = 5
  static let shortest = Duration.seconds(1)
  static let longest = Duration.seconds(30)

  private struct State {
    var failures = 0
    var pause = Breaker.shortest
    /// No request is sent before this time; nil while requests are sent.
    var openUntil: Duration?
    var openSince = Duration.zero
    var isTrying = false
    var openings = 0
  }
  private let state = Mutex(State())

  var openings: Int { state.withLock { $0.openings } }

  /// Whether a request may be sent; after a pause, one request. The shortest pause is enough if this machine reads the log.
  func admits(at now: Duration, isConnected: Bool = false) -> Bool {
    state.withLock { state in
      guard var until = state.openUntil else { return true }
      if isConnected { until = min(until, state.openSince + Self.shortest) }
      guard now >= until else { return false }
      // Other requests fail until this request has an outcome. Without an outcome, the next request tries after another pause.
      state.openUntil = now + state.pause
      state.openSince = now
      state.isTrying = true
      return true
    }
  }

  func succeeded() {
    state.withLock { $0 = State(openings: $0.openings) }
  }

  /// - Parameter part: a random part of the pause, so that the machines of a fleet do not return at the same time.
  func failed(at now: Duration, part: Double = .random(in: 0.5...1)) {
    state.withLock { state in
      if state.openUntil == nil {
        state.failures += 1
        guard state.failures >= Self.mostFailures else { return }
        state.openings += 1
      } else {
        // Requests that were sent before the pause do not lengthen it.
        guard state.isTrying else { return }
        state.isTrying = false
        state.pause = min(state.pause * 2, Self.longest)
      }
      state.openUntil = now + state.pause * part
      state.openSince = now
    }
  }

  /// Runs a request unless the breaker is open, and counts its outcome.
  func run<Result: Sendable>(
    _ clock: any LarderClock, isConnected: Bool,
    _ request: () async throws(LarderError) -> Result
  ) async throws(LarderError) -> Result {
    guard admits(at: clock.monotonic, isConnected: isConnected) else {
      throw LarderError(
        .unreachable, "the shared tier failed \(Self.mostFailures) times, and is asked again later",
        hint: "look whether the server runs and can be reached")
    }
    do throws(LarderError) {
      let result = try await request()
      succeeded()
      return result
    } catch {
      // The error of a cancelled caller says nothing about the tier.
      if !Task.isCancelled { failed(at: clock.monotonic) }
      throw error
    }
  }
}
