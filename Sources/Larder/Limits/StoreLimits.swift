/// The limits of a store as a whole; nil stands for no limit.
///
/// They are part of the store: every process that writes obeys them.
public struct StoreLimits: Hashable, Sendable, Codable {
  /// Entries of all namespaces, including expired ones that are not removed yet.
  public var entries: Int?
  /// Bytes of all their values.
  public var bytes: Int?
  /// Bytes of the data file; at least ``smallestDisk``. The file never grows beyond it.
  ///
  /// Nil keeps the limit that the store was created with, ``defaultDisk(free:)``; ``Limits/unlimited`` lifts it.
  public var disk: Int?
  /// Bytes that decoded values may cost in the memory of each process, all caches together; nil for 64 MB. Other processes
  /// obey a new limit from the next value that they decode.
  public var memory: Int?

  /// The smallest possible disk limit, in bytes.
  public static let smallestDisk = 4_000_000

  /// The disk limit of a new store that declares none: a tenth of the free disk at that time, at most 10 GB and at least
  /// ``smallestDisk``.
  ///
  /// - Parameter free: bytes that the user may write on the file system of the store.
  public static func defaultDisk(free: Int) -> Int {
    min(max(free / 10, smallestDisk), 10_000_000_000)
  }

  /// No limits. It also lifts the disk limit of a new store.
  public static let unlimited = StoreLimits(disk: Limits.unlimited)

  /// Limits; nil for none. With a nil ``disk`` the store keeps the limit that it was created with.
  public init(
    entries: Int? = nil, bytes: Int? = nil, disk: Int? = nil, memory: Int? = nil
  ) {
    self.entries = entries
    self.bytes = bytes
    self.disk = disk
    self.memory = memory
  }

  /// These limits, each replaced by the override if there is one; ``Limits/unlimited`` lifts a limit.
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
}
