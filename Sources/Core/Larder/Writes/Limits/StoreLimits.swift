import LMDB
import LarderSystem
import Synchronization

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The limits of the whole store; nil stands for no limit.
///
/// The store keeps the limits: every process that writes obeys them.
public struct StoreLimits: Hashable, Sendable, Codable {
  /// Entries of all namespaces, including expired entries that are not removed yet.
  public var entries: Int?
  /// Bytes of all values.
  public var bytes: Int?
  /// Bytes of the data file; at least 4 MB. A file beyond the limit grows by at most 2 MB, any other file never beyond the limit.
  ///
  /// Nil keeps the limit of the creation: a tenth of the free disk, at most 10 GB; ``Limits/unlimited`` lifts that limit.
  public var disk: Int?
  /// Bytes that decoded values may cost in the memory of each process, for all caches together; nil for 64 MB. Other processes
  /// obey a new limit from the next value that they decode.
  public var memory: Int?

  static let smallestDisk = 4_000_000

  /// The disk limit of a new store: a tenth of the `free` bytes that the user may write, at most 10 GB.
  static func defaultDisk(free: Int) -> Int {
    min(max(free / 10, smallestDisk), 10_000_000_000)
  }

  /// No limits; the disk limit of a new store is lifted, too.
  public static let unlimited = StoreLimits(disk: Limits.unlimited)

  /// Limits; nil for no limit. With a nil ``disk`` the store keeps the disk limit of its creation.
  public init(entries: Int? = nil, bytes: Int? = nil, disk: Int? = nil, memory: Int? = nil) {
    self.entries = entries
    self.bytes = bytes
    self.disk = disk
    self.memory = memory
  }

  /// These limits; each override replaces its limit, and ``Limits/unlimited`` lifts a limit.
  func overridden(by overrides: StoreLimits) -> StoreLimits {
    StoreLimits(
      entries: Limits.overridden(entries, by: overrides.entries),
      bytes: Limits.overridden(bytes, by: overrides.bytes),
      disk: Limits.overridden(disk, by: overrides.disk),
      memory: Limits.overridden(memory, by: overrides.memory))
  }

  func validate() throws(LarderError) {
    try Limits.validate(entries, "entries")
    try Limits.validate(bytes, "bytes")
    try Limits.validate(memory, "bytes of memory")
    if let disk, disk < Self.smallestDisk {
      throw LarderError(
        .invalidArgument, "a disk limit of \(disk) bytes is not possible",
        hint: "say \(Self.smallestDisk) bytes or more")
    }
  }

  /// The bytes of the data file that entries may use: the disk limit without its reserve. Nil without a limit.
  package func usableDisk(pageSize: Int) -> Int? {
    disk.map { BatchPages.usable(of: $0, pageSize: pageSize) * pageSize }
  }
}

/// Settings of the whole store, the same for every process: the record `S`, which is JSON.
struct StoreSettings: Codable, Equatable, Sendable {
  var defaultDisk: Int?
  var declared = StoreLimits()
  /// The limits that an operator set in place of declared limits.
  var overrides = StoreLimits()

  var info: StoreLimitInfo {
    StoreLimitInfo(defaultDisk: defaultDisk, declared: declared, overrides: overrides)
  }

  var limits: StoreLimits { info.effective }

  init() {}

  static func record(defaultDisk: Int, seal: RecordSeal) -> [UInt8] {
    let json = "{\"declared\":{},\"defaultDisk\":\(defaultDisk),\"overrides\":{}}"
    return seal.seal(Array(json.utf8), for: MetadataKey.settings)
  }

  init(_ record: Span<UInt8>, seal: RecordSeal) throws(LarderError) {
    guard let content = seal.open(record, for: MetadataKey.settings) else {
      throw LarderError(.damaged, "the record of the store's limits is damaged", hint: .verify)
    }
    do {
      self = try JSONDecoder().decode(StoreSettings.self, from: Data(copying: content))
      try declared.validate()
      try limits.validate()
    } catch {
      throw LarderError(.damaged, "the store's limits cannot be read: \(error)", hint: .verify)
    }
  }

  func record(seal: RecordSeal) throws(LarderError) -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    do {
      return seal.seal([UInt8](try encoder.encode(self)), for: MetadataKey.settings)
    } catch {
      throw LarderError(.invalidArgument, "the limits cannot be stored: \(error)")
    }
  }
}

/// The limits of a store and where they come from.
public struct StoreLimitInfo: Sendable, Hashable {
  /// The disk limit of the store's creation, in bytes; see ``StoreLimits/disk``. Nil for a temporary store and for a store that
  /// was created with a disk limit of its own.
  public var defaultDisk: Int?
  /// The limits that code has declared.
  public var declared: StoreLimits
  /// An operator's limits; each replaces a declared limit.
  public var overrides: StoreLimits
  /// The limits in force.
  public var effective: StoreLimits {
    StoreLimits().overridden(by: StoreLimits(disk: defaultDisk)).overridden(by: declared)
      .overridden(by: overrides)
  }
}

extension Store {
  /// The limits of the whole store, as the last commit of any process left them. O(1).
  public func limits() throws(LarderError) -> StoreLimitInfo {
    try engine.metadata.settings(in: engine.beginRead()).info
  }

  /// Declares the limits of the store. Every process then obeys them. Overrides of an operator stay.
  ///
  /// A lower limit evicts in bounded transactions before the call returns. A disk limit below the size of the file is accepted:
  /// the file grows no further, and shrinks when it is compacted.
  ///
  /// - Throws: ``LarderError/Code/invalidArgument`` for an impossible limit; ``LarderError/Code/full`` if too much is pinned,
  ///   and then the reached usage is the limit in force; ``LarderError/Code/insideWrite`` inside ``write(_:)``.
  public func declare(_ limits: StoreLimits) throws(LarderError) {
    try checkWritable()
    try LimitChange(engine).changeSettings { settings in settings.declared = limits }
  }

  /// Replaces an operator's overrides; empty overrides restore the declared limits. See ``declare(_:)``.
  public func override(_ limits: StoreLimits) throws(LarderError) {
    _ = try override(limits) { true }
  }

  /// Like ``override(_:)``, but calls `shouldContinue` between two transactions, and stops once it returns false. Returns false
  /// if the change was stopped; then the reached usage is the limit in force.
  package func override(
    _ limits: StoreLimits, while shouldContinue: () -> Bool
  ) throws(LarderError) -> Bool {
    try checkWritable()
    return try LimitChange(engine).changeSettings(while: shouldContinue) { settings in
      settings.overrides = limits
    }
  }
}
