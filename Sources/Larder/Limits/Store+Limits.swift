import LMDB
import LarderSystem
import Synchronization

/// The limits of a store: what code declared, what an operator put over it, and what holds.
public struct StoreLimitInfo: Sendable, Hashable {
  public var declared: StoreLimits
  public var overrides: StoreLimits
  public var effective: StoreLimits { declared.overridden(by: overrides) }
}

extension Store {
  /// The limits of the store as a whole.
  public func limits() throws(LarderError) -> StoreLimitInfo {
    let transaction = try engine.beginRead()
    let settings = try engine.settings(in: transaction)
    return StoreLimitInfo(declared: settings.declared, overrides: settings.overrides)
  }

  /// Declares the limits of the store, which every process then obeys; an operator's over them stay.
  ///
  /// Lowering one evicts in bounded steps before this returns. A disk limit below the file's size is accepted: the file
  /// grows no more, and shrinks when it is compacted.
  public func declare(_ limits: StoreLimits) throws(LarderError) {
    try checkWritable()
    try engine.changeLimits { settings in settings.declared = limits }
  }

  /// Puts an operator's limits over the declared ones; empty ones let those hold again.
  public func override(_ limits: StoreLimits) throws(LarderError) {
    try checkWritable()
    try engine.changeLimits { settings in settings.overrides = limits }
  }
}

extension StoreEngine {
  func settings(in transaction: borrowing ReadTransaction) throws(LarderError) -> StoreSettings {
    let bytes: [UInt8]
    do throws(LMDBError) {
      guard let region = try transaction.find(MetadataKey.settings, in: .main) else {
        return StoreSettings()
      }
      bytes = transaction.bytes(of: region).copied
    } catch {
      throw self.error(error)
    }
    return try StoreSettings(bytes.span)
  }
}

extension WriteBatch {
  mutating func settings() throws(LarderError) -> StoreSettings {
    let generation = isCatalogueCommitted ? state.generation : nil
    if let generation,
      let known = engine.settings.withLock({ $0?.generation == generation ? $0?.settings : nil })
    {
      return known
    }
    let bytes = try read { transaction throws(LMDBError) in
      try transaction.value(for: MetadataKey.settings, in: .main)?.copied
    }
    var settings = StoreSettings()
    if let bytes { settings = try StoreSettings(bytes.span) }
    if let generation { engine.settings.withLock { $0 = (generation, settings) } }
    return settings
  }

  mutating func store(_ settings: StoreSettings) throws(LarderError) {
    let bytes = try settings.encoded()
    try change { transaction throws(LMDBError) in
      try transaction.put(bytes, for: MetadataKey.settings, in: .main)
    }
    state.generation &+= 1
    knownLimits = settings.limits
  }
}
