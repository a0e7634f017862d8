extension Store {
  /// Removes every entry that carries the tag, in any namespace, and the entries that belong to those.
  ///
  /// After the first commit no process finds one of them: those that are not removed yet are hidden. Entries written
  /// afterwards may carry the tag again and are not affected. O(entries with the tag), in transactions of at most 500; if
  /// the process is killed in between, later writes of any process remove the rest.
  ///
  /// - Parameter tag: 1 to 200 bytes of UTF-8, none of them 0.
  /// - Returns: how many entries that carried the tag were removed.
  /// - Throws: ``LarderError/Code/invalidArgument`` for an impossible tag; ``LarderError/Code/insideWrite`` inside
  ///   ``write(_:)``.
  @discardableResult
  public func invalidate(tag: String) throws(LarderError) -> RemovalResult {
    try checkWritable()
    return try TagInvalidation(engine).run(EntryAttributes.validated(tag), in: nil)
  }
}

extension Store.Namespace {
  /// Removes every entry of this namespace that carries the tag; see ``Store/invalidate(tag:)``.
  @discardableResult
  public func invalidate(tag: String) throws(LarderError) -> RemovalResult {
    try store.checkWritable()
    return try TagInvalidation(store.engine).run(EntryAttributes.validated(tag), in: name)
  }
}

extension Store {
  /// As ``invalidate(tag:)``, and values that were written after the horizon stay.
  ///
  /// - Parameter namespace: the only one concerned; nil for all.
  package func invalidate(
    tag: String, in namespace: String?, asOf horizon: WriteHorizon
  ) throws(LarderError) -> RemovalResult {
    try checkWritable()
    return try TagInvalidation(engine).run(
      EntryAttributes.validated(tag), in: namespace, asOf: horizon)
  }
}
