extension Namespace {
  /// Begins the entry's lifetime anew, without the value being written or read.
  ///
  /// Without `expires` the lifetime is what the namespace's rules say.
  /// - Returns: false if there is no such entry or it has expired.
  @discardableResult
  public func touch(_ key: some StoreKey, expires: Expiration? = nil) throws -> Bool {
    try core.writeJoining(rescheduling(key, expires))
  }

  /// Gives the entry another end; false if there is no such entry or it has expired.
  @discardableResult
  public func expire(_ key: some StoreKey, _ expires: Expiration) throws -> Bool {
    try touch(key, expires: expires)
  }

  /// Lets the entry stay for ever; false if there is no such entry or it has expired.
  @discardableResult
  public func persist(_ key: some StoreKey) throws -> Bool {
    try touch(key, expires: .never)
  }
}

extension Batch {
  mutating func reschedule(
    _ key: Span<UInt8>, in namespace: String, expires: Expiration?
  ) throws(LarderError) -> Bool {
    guard let record = try record(named: namespace), let entry = try living(key, in: namespace)
    else {
      return false
    }
    try account(entry.recordCount)
    let rules = record.rules.effective
    let deadline = (expires ?? rules.expires).deadline(from: now)
    stamp()
    // An entry from the future would stay stale, whatever its new end.
    return try reschedule(
      entry, expires: deadline, staleUntil: lateEnd(deadline, stale: rules.stale),
      written: min(entry.header.written, now.milliseconds))
  }
}
