import LMDB
import LarderSystem
import Synchronization

/// The limits of a store and where they come from.
public struct StoreLimitInfo: Sendable, Hashable {
  /// The disk limit that the store was made with, in bytes; see ``StoreLimits/defaultDisk(free:)``. Nil for a temporary store
  /// and for one that was made with a disk limit of its own.
  public var defaultDisk: Int?
  /// The limits that code has declared.
  public var declared: StoreLimits
  /// An operator's limits, each of which replaces a declared one.
  public var overrides: StoreLimits
  /// The limits in force.
  public var effective: StoreLimits {
    StoreLimits().overridden(by: StoreLimits(disk: defaultDisk)).overridden(by: declared)
      .overridden(by: overrides)
  }
}

extension Store {
  /// The limits of the store as a whole, as the last commit of any process left them. O(1).
  public func limits() throws(LarderError) -> StoreLimitInfo {
    let transaction = try engine.beginRead()
    let settings = try engine.metadata.settings(in: transaction)
    return StoreLimitInfo(
      defaultDisk: settings.defaultDisk, declared: settings.declared,
      overrides: settings.overrides)
  }

  /// Declares the limits of the store. Every process then obeys them. Overrides of an operator stay.
  ///
  /// A lower limit evicts in bounded transactions before the call returns. A disk limit below the size of the file is
  /// accepted: the file does not grow any more, and shrinks when it is compacted.
  ///
  /// - Throws: ``LarderError/Code/invalidArgument`` for an impossible limit; ``LarderError/Code/full`` if too much is pinned,
  ///   and then the limit in force is what was reached; ``LarderError/Code/insideWrite`` inside ``write(_:)``.
  public func declare(_ limits: StoreLimits) throws(LarderError) {
    try checkWritable()
    try LimitChange(engine).changeSettings { settings in settings.declared = limits }
  }

  /// Replaces an operator's overrides of the declared limits; empty ones lift them. See ``declare(_:)``.
  public func override(_ limits: StoreLimits) throws(LarderError) {
    try checkWritable()
    try LimitChange(engine).changeSettings { settings in settings.overrides = limits }
  }
}
