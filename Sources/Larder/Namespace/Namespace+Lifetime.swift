import LarderSystem

extension Store.Namespace {
  /// Starts the entry's lifetime again, without reading or writing the value.
  ///
  /// The time for which it may be served stale afterwards stays as long as it was.
  ///
  /// - Parameter expires: the new lifetime; nil takes the namespace's rule.
  /// - Returns: false if there is no entry, or an expired one.
  @discardableResult
  public func touch(
    _ key: some StoreKey, expires: Expiration? = nil
  ) throws(LarderError) -> Bool {
    try write(rescheduling(key, expires))
  }

  /// Sets another expiration; false if there is no entry, or an expired one.
  @discardableResult
  public func expire(_ key: some StoreKey, _ expires: Expiration) throws(LarderError) -> Bool {
    try touch(key, expires: expires)
  }

  /// Removes the expiration; false if there is no entry, or an expired one.
  @discardableResult
  public func persist(_ key: some StoreKey) throws(LarderError) -> Bool {
    try touch(key, expires: .never)
  }
}
