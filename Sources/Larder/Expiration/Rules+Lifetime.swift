extension Rules {
  /// Fresh for `soft` after each write, then kept to be served stale while a newer value is fetched, and gone `hard`
  /// after the write: `Rules(soft: .minutes(5), hard: .hours(24))`.
  ///
  /// The same as ``expires`` of `.after(soft)` and ``stale`` of what is between the two.
  public init(soft: Duration, hard: Duration) {
    self.init(expires: .after(soft), stale: hard - soft)
  }

  func validateTimes() throws(LarderError) {
    try expires.validate()
    guard stale >= .zero else {
      throw LarderError(
        .invalidArgument, "a stale window of \(stale) is not possible",
        hint: "say zero or more; the hard lifetime is not before the soft one")
    }
    guard (0...1).contains(jitter) else {
      throw LarderError(
        .invalidArgument, "a jitter of \(jitter) is not possible",
        hint: "say the part of the lifetime it may take, 0 to 1")
    }
  }
}
