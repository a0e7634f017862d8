/// How a store keeps a value of the shared tier: the value's source, an error, and the condition for storing the value.
package struct CopyTerms: Sendable {
  /// The source that the result gets: the case of ``CacheResult/Source`` with the same name.
  package enum Origin: String, Sendable { case loaded, shared, stale }

  package var origin: Origin
  /// The error in the result, for example because the shared tier cannot be reached.
  package var error: (any Error)?
  /// The error of the write if the namespace, the key or a tag was removed during the load; nil if the write then does nothing.
  package var overtaken: (any Error)?
  /// Decides in the storing transaction whether to store the value. Without a `CopyTerms`, a loaded value is stored only if no
  /// other version was written during the load.
  package var mayStore: @Sendable (inout WriteBatch) throws -> Bool

  package init(
    origin: Origin, error: (any Error)?, overtaken: (any Error)?,
    mayStore: @escaping @Sendable (inout WriteBatch) throws -> Bool
  ) {
    self.origin = origin
    self.error = error
    self.overtaken = overtaken
    self.mayStore = mayStore
  }
}

extension CacheResult {
  init(uncommitted value: Value, _ attributes: EntryAttributes, at now: Timestamp) {
    guard let copy = attributes.copy else {
      self.init(value: value, source: .loaded, isCommitted: false)
      return
    }
    self.init(
      value: value, source: Source(rawValue: copy.origin.rawValue) ?? .loaded,
      age: max(.zero, attributes.written?.duration(to: now) ?? .zero), error: copy.error,
      isCommitted: false)
  }
}
