import LarderSystem

extension Rules {
  /// Entries are fresh for `soft` after each write, may then be served stale, and expire `hard` after the write:
  /// `Rules(soft: .minutes(5), hard: .hours(24))`.
  ///
  /// The same as ``expires`` of `.after(soft)` and ``stale`` of `hard - soft`.
  public init(soft: Duration, hard: Duration) {
    self.init(expires: .after(soft), stale: hard.bounded - soft.bounded)
  }

  func validateTimes() throws(LarderError) {
    guard stale >= .zero else {
      throw LarderError(
        .invalidArgument, "a stale window of \(stale) is not possible",
        hint: "use zero or more, and a hard lifetime that is not shorter than the soft one")
    }
    guard (0...1).contains(jitter) else {
      throw LarderError(
        .invalidArgument, "a jitter of \(jitter) is not possible",
        hint: "use a part of the lifetime, 0 to 1")
    }
  }
}
