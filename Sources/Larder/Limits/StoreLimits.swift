/// How much a store may hold as a whole; nil where there is no limit.
///
/// The limits are kept in the store: every process that writes obeys them.
public struct StoreLimits: Hashable, Sendable, Codable {
  /// Entries of all namespaces.
  public var entries: Int?
  /// Bytes of all their values.
  public var bytes: Int?
  /// Bytes of the data file; at least ``smallestDisk``. The file never grows beyond it, whatever happens.
  public var disk: Int?
  /// Bytes that decoded values may cost in the memory of each process, all caches together; 64 MB unless set. Another
  /// process obeys a new limit from the next value that it decodes.
  public var memory: Int?

  public static let smallestDisk = 4_000_000

  public init(
    entries: Int? = nil, bytes: Int? = nil, disk: Int? = nil, memory: Int? = nil
  ) {
    self.entries = entries
    self.bytes = bytes
    self.disk = disk
    self.memory = memory
  }

  /// These limits with an operator's over them; ``Limits/unlimited`` lifts one.
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
