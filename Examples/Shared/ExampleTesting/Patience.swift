/// Waiting for what others do.
public enum Patience {
  /// Waits until that holds; whether it does, after at most so long.
  ///
  /// Who waits sleeps in between: tasks that only yield to each other keep those of lower priority from running.
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
