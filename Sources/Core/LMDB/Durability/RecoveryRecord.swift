import LarderSystem

/// A record of the file `recovery`: the boot in which the environment was changed, and the state to restore after that boot.
struct RecoveryRecord: Equatable {
  static let size = 512
  private static let mark = Array("larderbt".utf8)
  private static let stampPlace = 56 + MetaImage.size
  /// Records of version 1 have neither a stamp of the data nor a failure.
  private static let version: UInt64 = 2

  var level: DurabilityLevel
  /// The newer of the two records in the file has the larger number.
  var sequence: UInt64 = 0
  var boot: BootIdentity
  /// At the level scratch: whether commits were made after the last sync.
  var isDirty = false
  /// The data file to which the record belongs.
  var data: DataStamp
  /// At the level checkpointed: this commit and all earlier commits are on the disk, and no later commit has changed its pages.
  var recoveryPoint: MetaImage?
  /// The error code of a failed sync; 0 if no sync has failed.
  var failure: Int32 = 0

  /// No real boot has this value. After a failed sync the record has this value, so the next opening restores the recovery point.
  static let noBoot = BootIdentity(0, 0)

  var isFailed: Bool { boot == Self.noBoot }

  /// Whether the record belongs to this data file: the stamp is the same, and `newest` is not older than the recovery point.
  func isAbout(_ data: DataStamp, newest: MetaImage) -> Bool {
    guard self.data == data else { return false }
    guard let point = recoveryPoint else { return true }
    return newest.transaction > point.transaction || newest == point
  }
}

extension RecoveryRecord {
  /// Nil if the bytes are not a valid record.
  init?(_ bytes: [UInt8]) {
    guard bytes.count == Self.size, bytes.starts(with: Self.mark),
      bytes.u64(8) == Self.version || bytes.u64(8) == 1,
      bytes.u64(Self.size - 8) == Self.checksum(bytes.prefix(Self.size - 8)),
      let level = DurabilityLevel(rawValue: bytes[16])
    else { return nil }
    self.level = level
    isDirty = bytes[17] == 1
    failure = Int32(bitPattern: bytes.u32(20))
    sequence = bytes.u64(24)
    boot = BootIdentity(bytes.u64(32), bytes.u64(40))
    data = DataStamp(Array(bytes[Self.stampPlace..<Self.stampPlace + DataStamp.size]))
    if bytes.u64(48) > 0 {
      guard
        let point = MetaImage(
          pageSize: bytes.u64(48), bytes: Array(bytes[56..<56 + MetaImage.size]))
      else { return nil }
      recoveryPoint = point
    }
  }

  var encoded: [UInt8] {
    var bytes = Self.mark
    bytes.append(littleEndian: Self.version)
    bytes += [level.rawValue, isDirty ? 1 : 0, 0, 0]
    bytes.append(littleEndian: failure)
    bytes.append(littleEndian: sequence)
    bytes.append(littleEndian: boot.high)
    bytes.append(littleEndian: boot.low)
    bytes.append(littleEndian: UInt64(recoveryPoint?.pageSize ?? 0))
    bytes += recoveryPoint?.bytes ?? [UInt8](repeating: 0, count: MetaImage.size)
    bytes += data.encoded
    bytes += [UInt8](repeating: 0, count: Self.size - 8 - bytes.count)
    bytes.append(littleEndian: Self.checksum(bytes[...]))
    return bytes
  }

  /// The FNV-1a hash, which detects an incomplete record.
  private static func checksum(_ bytes: ArraySlice<UInt8>) -> UInt64 {
    bytes.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01B3 }
  }
}
