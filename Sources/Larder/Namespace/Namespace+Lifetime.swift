extension Store.Namespace {
  /// Begins the entry's lifetime anew, without the value being written or read.
  ///
  /// Without `expires` the lifetime is what the namespace's rules say. For how long it may be served stale afterwards
  /// stays as it was.
  /// - Returns: false if there is no such entry or it has expired.
  @discardableResult
  public func touch(_ key: some StoreKey, expires: Expiration? = nil) throws -> Bool {
    try engine.writeJoining(rescheduling(key, expires))
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

extension WriteBatch {
  /// - Parameter stale: how long it may be served stale; nil for as long as until now, or by rule for an entry that had
  ///   no end.
  mutating func reschedule(
    _ key: Span<UInt8>, in namespace: String, expires: Expiration?, stale: Duration? = nil
  ) throws(LarderError) -> Bool {
    guard let record = try record(named: namespace), let entry = try living(key, in: namespace)
    else {
      return false
    }
    try account(entry.recordCount)
    let lifetime = try Lifetime(
      expires, stale: stale ?? entry.header.stale, rules: record.rules.effective, at: now)
    let end = lifetime.expires(key, version: entry.header.version)
    stamp()
    // An entry from the future would stay stale, whatever its new end.
    let isDone = try reschedule(
      entry, expires: end, staleUntil: Lifetime.late(end, stale: lifetime.stale),
      idle: lifetime.idle, written: min(entry.header.written, now.milliseconds))
    if isDone { try noteTouched(entry) }
    return isDone
  }
}
