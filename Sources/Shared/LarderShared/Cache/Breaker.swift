import Larder
import Synchronization

/// Keeps requests away from a tier that fails. After five failures in a row no request is sent during a pause. The first pause is
/// at most one second, and later pauses are at most 30 seconds. After a pause, one request tries the tier.
final class Breaker: Sendable {
  static let mostFailures = 5
  static let shortest = Duration.seconds(1)
  static let longest = Duration.seconds(30)

  private struct State {
    var failures = 0
    var pause = Breaker.shortest
    /// No request is sent before this time; nil while all requests are sent.
    var openUntil: Duration?
    var openSince = Duration.zero
    var isTrying = false
    var openings = 0
  }
  private let state = Mutex(State())

  var openings: Int { state.withLock { $0.openings } }

  /// Whether a request may be sent: after a pause, only one. While this machine reads the log, the shortest pause is used.
  func admits(at now: Duration, isConnected: Bool = false) -> Bool {
    state.withLock { state in
      guard var until = state.openUntil else { return true }
      if isConnected { until = min(until, state.openSince + Self.shortest) }
      guard now >= until else { return false }
      // This request tries the tier. Other requests fail until its outcome is known or a further pause has passed.
      state.openUntil = now + state.pause
      state.openSince = now
      state.isTrying = true
      return true
    }
  }

  func succeeded() { state.withLock { $0 = State(openings: $0.openings) } }

  /// - Parameter part: a random part of the pause, so that the machines of a fleet do not send requests again at the same time.
  func failed(at now: Duration, part: Double = .random(in: 0.5...1)) {
    state.withLock { state in
      if state.openUntil == nil {
        state.failures += 1
        guard state.failures >= Self.mostFailures else { return }
        state.openings += 1
      } else {
        // A request that was sent before the pause does not make the pause longer.
        guard state.isTrying else { return }
        state.isTrying = false
        state.pause = min(state.pause * 2, Self.longest)
      }
      state.openUntil = now + state.pause * part
      state.openSince = now
    }
  }

  /// Runs a request and counts its outcome. During a pause the request fails immediately and does not count.
  func run<Result: Sendable>(
    _ clock: any LarderClock, isConnected: Bool, _ request: () async throws(LarderError) -> Result
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
      // The error of a cancelled caller does not show whether the tier works.
      if !Task.isCancelled { failed(at: clock.monotonic) }
      throw error
    }
  }
}
