import LarderSystem

extension Store.Namespace {
  /// Protects the entry from eviction, whatever limit is reached; false if there is no entry, or an expired one.
  ///
  /// It still expires and can be removed. An overwrite keeps the pin.
  @discardableResult
  public func pin(_ key: some StoreKey) throws(LarderError) -> Bool {
    try write(pinning(key, true))
  }

  /// Ends the protection from eviction; false if there is no entry, or an expired one.
  @discardableResult
  public func unpin(_ key: some StoreKey) throws(LarderError) -> Bool {
    try write(pinning(key, false))
  }
}
