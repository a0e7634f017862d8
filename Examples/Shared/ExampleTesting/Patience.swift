/// Waiting for other tasks.
public enum Patience {
  /// Waits until the condition holds; false after the time limit.
  ///
  /// It sleeps between checks, so that tasks of lower priority can run.
  public static func until(
    within time: Duration = .seconds(60), _ holds: () throws -> Bool
  ) async throws -> Bool {
    let end = ContinuousClock.now + time
    while try !holds() {
      guard ContinuousClock.now < end else { return false }
      try await Task.sleep(for: .milliseconds(1))
    }
    return true
  }
}
