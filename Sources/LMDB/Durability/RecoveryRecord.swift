import LarderSystem

/// What the file `boot` says: which start of the machine wrote to the environment, and what to return to after its end.
struct RecoveryRecord: Equatable {
  static let size = 512
  private static let mark = Array("larderbt".utf8)
  private static let version: UInt64 = 1

  var level: DurabilityLevel
  /// The higher of the two records in the file holds.
  var sequence: UInt64 = 0
  var boot: BootIdentity
  /// Scratch: there are commits that no sync has followed.
  var isDirty = false
  /// Grouped: everything up to this commit is on the disk, and no later commit has touched its pages.
  var point: MetaImage?

  /// A record that no machine's start equals: the next opening returns to the point.
  static let noBoot = BootIdentity(0, 0)

  init(level: DurabilityLevel, boot: BootIdentity, point: MetaImage?) {
    self.level = level
    self.boot = boot
    self.point = point
  }

  /// Nil if the bytes are not a whole record.
  init?(_ bytes: [UInt8]) {
    guard bytes.count == Self.size, bytes.starts(with: Self.mark), bytes.u64(8) == Self.version,
      bytes.u64(Self.size - 8) == Self.checksum(bytes.prefix(Self.size - 8)),
      let level = DurabilityLevel(rawValue: bytes[16])
    else { return nil }
    self.level = level
    isDirty = bytes[17] == 1
    sequence = bytes.u64(24)
    boot = BootIdentity(bytes.u64(32), bytes.u64(40))
    if bytes.u64(48) > 0 {
      point = MetaImage(
        pageSize: Int(bytes.u64(48)), bytes: Array(bytes[56..<56 + MetaImage.size]))
    }
  }

  var encoded: [UInt8] {
    var bytes = Self.mark
    bytes.append(littleEndian: Self.version)
    bytes += [level.rawValue, isDirty ? 1 : 0, 0, 0, 0, 0, 0, 0]
    bytes.append(littleEndian: sequence)
    bytes.append(littleEndian: boot.high)
    bytes.append(littleEndian: boot.low)
    bytes.append(littleEndian: UInt64(point?.pageSize ?? 0))
    bytes += point?.bytes ?? []
    bytes += [UInt8](repeating: 0, count: Self.size - 8 - bytes.count)
    bytes.append(littleEndian: Self.checksum(bytes[...]))
    return bytes
  }

  /// FNV-1a: it tells a torn record from a whole one.
  private static func checksum(_ bytes: ArraySlice<UInt8>) -> UInt64 {
    bytes.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01B3 }
  }
}

/// The beginning of a meta page: all that LMDB needs to find a commit.
struct MetaImage: Equatable {
  /// LMDB's page header and its `MDB_meta`.
  static let size = 152
  private static let transactionOffset = 144

  let pageSize: Int
  let bytes: [UInt8]

  var transaction: UInt64 { bytes.u64(Self.transactionOffset) }
  /// Commits take turns between the two pages.
  var place: Int { Int(transaction % 2) * pageSize }

  /// The same commit under the number before, for the other page: a valid one that LMDB will not choose.
  var predecessor: MetaImage {
    var other = bytes
    other[0] ^= 1
    other.removeLast(8)
    other.append(littleEndian: transaction - 1)
    return MetaImage(pageSize: pageSize, bytes: other)
  }
}
