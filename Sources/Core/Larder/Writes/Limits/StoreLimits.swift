import LMDB
import LarderSystem

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The limits of the whole store; nil means no limit.
///
/// The limits are stored in the store, so every process that writes obeys them.
public struct StoreLimits: Hashable, Sendable, Codable {
  /// The number of entries in all namespaces, including expired entries that are not removed yet.
  public var entries: Int?
  /// The bytes of all values.
  public var bytes: Int?
  /// Bytes of the data file; at least 4 MB. A file below the limit never exceeds the limit. A larger file grows by at
  /// most 2 MB in each call that lowers the limit.
  ///
  /// Nil keeps the limit of the creation: a tenth of the disk's free bytes, at most 10 GB. ``Limits/unlimited``: no limit.
  public var disk: Int?
  /// The bytes of memory that decoded values may use in each process, for all caches together; nil means 64 MB, and
  /// ``Limits/unlimited`` no limit. Other processes obey a new limit when they decode their next value.
  public var memory: Int?

  static let smallestDisk = 4_000_000

  /// The disk limit of a new store: a tenth of the `free` bytes that the user may write, at most 10 GB.
  static func defaultDisk(free: Int) -> Int { min(max(free / 10, smallestDisk), 10_000_000_000) }

  /// No limits of entries, bytes and disk, not even the disk limit from the creation of the store. ``memory`` is nil.
  public static let unlimited = StoreLimits(
    entries: Limits.unlimited, bytes: Limits.unlimited, disk: Limits.unlimited)

  /// Makes limits; nil means no limit. If ``disk`` is nil, the store keeps the disk limit from its creation.
  public init(entries: Int? = nil, bytes: Int? = nil, disk: Int? = nil, memory: Int? = nil) {
    self.entries = entries
    self.bytes = bytes
    self.disk = disk
    self.memory = memory
  }

  /// These limits, in which each override that is not nil replaces a limit; ``Limits/unlimited`` removes a limit.
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
      throw .impossible(
        "a disk limit of \(disk) bytes", hint: "say \(Self.smallestDisk) bytes or more")
    }
  }

  /// The bytes of the data file that entries may use: the disk limit without its reserve. Nil if there is no limit.
  package func usableDisk(pageSize: Int) -> Int? {
    disk.map { BatchPages.usable(of: $0, pageSize: pageSize) * pageSize }
  }
}

/// Settings of the whole store, which are the same for every process. The record `S` has the settings, as JSON.
struct StoreSettings: Codable, Equatable, Sendable {
  var defaultDisk: Int?
  var declared = StoreLimits()
  /// The limits that an operator has set, which replace declared limits.
  var overrides = StoreLimits()

  var info: StoreLimitInfo {
    StoreLimitInfo(defaultDisk: defaultDisk, declared: declared, overrides: overrides)
  }

  var limits: StoreLimits { info.effective }

  /// The limit in force on the cost of all decoded values; nil if there is no limit.
  var memoryLimit: Int? {
    let isUnlimited = [declared.memory, overrides.memory].contains(Limits.unlimited)
    return limits.memory ?? (isUnlimited ? nil : MemoryBudget.defaultLimit)
  }

  init() {}

  static func record(defaultDisk: Int?, seal: RecordSeal) -> [UInt8] {
    let disk = defaultDisk.map { "\"defaultDisk\":\($0)," } ?? ""
    let json = "{\"declared\":{},\(disk)\"overrides\":{}}"
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
    } catch { throw LarderError(.invalidArgument, "the limits cannot be stored: \(error)") }
  }
}

/// The limits of a store, and who has set them.
public struct StoreLimitInfo: Sendable, Hashable {
  /// The disk limit that the store got at its creation, in bytes; see ``StoreLimits/disk``. Nil for a temporary store, and for
  /// a store whose creation set another disk limit.
  public var defaultDisk: Int?
  /// The limits that code has declared.
  public var declared: StoreLimits
  /// The limits that an operator has set. Each of them replaces a declared limit.
  public var overrides: StoreLimits
  /// The limits in force.
  public var effective: StoreLimits {
    StoreLimits().overridden(by: StoreLimits(disk: defaultDisk)).overridden(by: declared)
      .overridden(by: overrides)
  }
}

extension Store {
  /// The limits of the whole store, after the last commit of any process. O(1).
  public func limits() throws(LarderError) -> StoreLimitInfo {
    try engine.metadata.settings(in: engine.reader.beginRead()).info
  }

  /// Declares the limits of the store. Every process then obeys these limits. Overrides of an operator stay in force.
  ///
  /// If a limit is lower than the usage, entries are evicted in several transactions before the call returns. A disk limit
  /// below the size of the file is accepted: the file then no longer grows, and the file shrinks when the store is compacted.
  ///
  /// - Throws: ``LarderError/Code/invalidArgument`` for an impossible limit; ``LarderError/Code/insideWrite`` in ``write(_:)``;
  ///   ``LarderError/Code/full`` if entries that may not be evicted exceed a limit. The usage then becomes the limit in force.
  public func declare(_ limits: StoreLimits) throws(LarderError) {
    try checkWritable()
    try engine.changeSettings { settings in settings.declared = limits }
  }

  /// Replaces the overrides of an operator. Empty overrides restore the declared limits. See ``declare(_:)``.
  public func override(_ limits: StoreLimits) throws(LarderError) {
    _ = try override(limits) { true }
  }

  /// Like ``override(_:)``, but calls `shouldContinue` between two transactions, and stops if the result is false. In that case
  /// this call also returns false, and the reached usage is the limit in force.
  package func override(
    _ limits: StoreLimits, while shouldContinue: () -> Bool
  ) throws(LarderError) -> Bool {
    try checkWritable()
    return try engine.changeSettings(while: shouldContinue) { $0.overrides = limits }
  }
}
