import CLarderSystem
import LarderSystem

/// The file `recovery` in the directory of the environment.
///
///     byte     0  a record, 512 bytes
///           4096  a record, 512 bytes
///           8192  u64: how many records were written
///           8200  u64: the sequence number of the last record that was synced
///
/// Records are written to the two places in turn, so if a write is interrupted, the other record is still complete. The writer
/// holds `lock.checkpoint` at the level checkpointed and `lock.write` at the level scratch, or no other process uses the file.
final class RecoveryFile: Sendable {
  private static let place = 4096
  private static let changes = 2 * place
  private static let synced = changes + 8
  private static let length = 3 * place

  private let file: FileDescriptor

  init(opening path: String, readOnly: Bool = false) throws(LMDBError) {
    file = try FileDescriptor(opening: path, (readOnly ? O_RDONLY : O_RDWR) | O_NOFOLLOW)
  }

  /// Creates the file with all of its blocks and a first record. Replaces an existing file.
  static func create(_ path: String, _ record: RecoveryRecord) throws(LMDBError) {
    try FileStatus.remove(path)
    try FileDescriptor(opening: path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW).allocate(length)
    try RecoveryFile(opening: path).replace(record)
  }

  func isAt(_ path: String) -> Bool { FileStatus.isFile(file.number, at: path) }

  /// The newest valid record, even if it was not synced.
  func read() throws(LMDBError) -> RecoveryRecord? {
    let first = RecoveryRecord(try file.contents(at: 0, count: RecoveryRecord.size))
    let second = RecoveryRecord(try file.contents(at: Self.place, count: RecoveryRecord.size))
    return [first, second].compactMap { $0 }.max { $0.sequence < $1.sequence }
  }

  /// The newest valid record. Nil if the writer of that record was killed before the sync.
  func readSynced() throws(LMDBError) -> RecoveryRecord? {
    guard let record = try read(), try word(at: Self.synced) == record.sequence else { return nil }
    return record
  }

  /// Throws ``LMDBError/syncFailed`` if a sync of the data file has failed and the environment was not recovered after that.
  func checkSynced() throws(LMDBError) { if try read()?.isFailed == true { throw .syncFailed } }

  /// Syncs the data file. After a failure, a later success proves nothing: the system may have dropped pages that it could not
  /// write, and counts these pages as written. So until the next recovery, the record tells every process about the failure.
  @unsafe func syncData(of handle: OpaquePointer) throws(LMDBError) {
    try checkSynced()
    do throws(LMDBError) { try unsafe syncFile(of: handle) } catch {
      if var record = try read() {
        record.boot = RecoveryRecord.noBoot
        record.failure = error.code
        try replace(record)
      }
      throw error
    }
  }

  /// Writes `record` as the newest record, even after a failed sync. Throws ``LMDBError/replaced`` if the file was deleted. The
  /// number of records is increased first. So after a kill, other processes only read the file once more than necessary.
  func replace(_ record: RecoveryRecord) throws(LMDBError) {
    if file.status?.st_nlink == 0 { throw .replaced }
    var record = record
    record.sequence = (try read()?.sequence ?? 0) &+ 1
    try file.write([UInt8](littleEndian: try changes() &+ 1), at: Self.changes)
    try file.write(record.encoded, at: Int(record.sequence % 2) * Self.place)
    try file.sync()
    try file.write([UInt8](littleEndian: record.sequence), at: Self.synced)
  }

  /// The number of records that were ever written. Makes one system call.
  func changes() throws(LMDBError) -> UInt64 { try word(at: Self.changes) }

  /// The number at `offset`; 0 if the file ends before the number.
  private func word(at offset: Int) throws(LMDBError) -> UInt64 {
    let bytes = try file.contents(at: offset, count: 8)
    return bytes.count == 8 ? bytes.u64(0) : 0
  }
}

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
