import CLarderSystem
import LarderSystem

/// The file `recovery` beside the data.
///
///     byte     0  a record, 512 bytes
///           4096  a record, 512 bytes
///           8192  u64: how many records were written
///           8200  u64: the sequence number of the last record that was synced
///
/// Records are written to the two places in turn, so a torn record leaves the other one. The writing process holds
/// `lock.checkpoint` at the level checkpointed and `lock.write` at the level scratch.
final class RecoveryFile: Sendable {
  private static let place = 4096
  private static let changes = 2 * place
  private static let synced = changes + 8
  private static let length = 3 * place

  private let file: FileDescriptor

  /// - Throws: `ENOENT` if there is no file.
  init(opening path: String, readOnly: Bool = false) throws(LMDBError) {
    file = try FileDescriptor(opening: path, (readOnly ? O_RDONLY : O_RDWR) | O_NOFOLLOW)
  }

  /// Creates the file, with all of its blocks and a first record, and replaces an existing one.
  static func create(_ path: String, _ record: RecoveryRecord) throws(LMDBError) {
    try FileStatus.remove(path)
    let file = try FileDescriptor(opening: path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW)
    try file.allocate(length)
    try RecoveryFile(file).write(record)
  }

  private init(_ file: consuming FileDescriptor) { self.file = file }

  func isAt(_ path: String) -> Bool { FileStatus.isFile(file.number, at: path) }

  /// The newest valid record.
  func read() throws(LMDBError) -> RecoveryRecord? {
    var newest: RecoveryRecord?
    for index in 0...1 {
      let bytes = try file.contents(at: index * Self.place, count: RecoveryRecord.size)
      guard let record = RecoveryRecord(bytes) else { continue }
      if newest.map({ $0.sequence < record.sequence }) ?? true { newest = record }
    }
    return newest
  }

  /// The newest valid record if it is certainly on the disk: its writer may have been killed before the sync.
  func readSynced() throws(LMDBError) -> RecoveryRecord? {
    guard let record = try read(),
      try word(at: Self.synced) == record.sequence
    else { return nil }
    return record
  }

  /// Writes a record to the disk as the newest. Throws ``LMDBError/replaced`` if the file was deleted: no opening would
  /// find the record.
  ///
  /// The number of records increases first: if the process is killed in between, other processes only read once more
  /// than necessary.
  func write(_ record: RecoveryRecord) throws(LMDBError) {
    if file.status?.st_nlink == 0 { throw .replaced }
    var record = record
    record.sequence = (try read()?.sequence ?? 0) &+ 1
    try file.write([UInt8](littleEndian: try changes() &+ 1), at: Self.changes)
    try file.write(record.encoded, at: Int(record.sequence % 2) * Self.place)
    try file.sync()
    try file.write([UInt8](littleEndian: record.sequence), at: Self.synced)
  }

  /// How many records were written so far; one system call.
  func changes() throws(LMDBError) -> UInt64 {
    try word(at: Self.changes)
  }

  /// 0 if the file ends before it.
  private func word(at offset: Int) throws(LMDBError) -> UInt64 {
    let bytes = try file.contents(at: offset, count: 8)
    return bytes.count == 8 ? bytes.u64(0) : 0
  }
}

/// A record of the file `recovery`: the boot that wrote to the environment, and the state to restore after its end.
struct RecoveryRecord: Equatable {
  static let size = 512
  private static let mark = Array("larderbt".utf8)
  private static let version: UInt64 = 1

  var level: DurabilityLevel
  /// The newer of the two records in the file has the higher number.
  var sequence: UInt64 = 0
  var boot: BootIdentity
  /// Scratch: there are commits after the last sync.
  var isDirty = false
  /// Checkpointed: everything up to this commit is on the disk, and no later commit has changed its pages.
  var recoveryPoint: MetaImage?

  /// Equals no boot of a machine: the next opening restores the recovery point.
  static let noBoot = BootIdentity(0, 0)

  init(level: DurabilityLevel, boot: BootIdentity, recoveryPoint: MetaImage?) {
    self.level = level
    self.boot = boot
    self.recoveryPoint = recoveryPoint
  }

  /// Nil if the bytes are not a valid record.
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
    bytes += [level.rawValue, isDirty ? 1 : 0, 0, 0, 0, 0, 0, 0]
    bytes.append(littleEndian: sequence)
    bytes.append(littleEndian: boot.high)
    bytes.append(littleEndian: boot.low)
    bytes.append(littleEndian: UInt64(recoveryPoint?.pageSize ?? 0))
    bytes += recoveryPoint?.bytes ?? []
    bytes += [UInt8](repeating: 0, count: Self.size - 8 - bytes.count)
    bytes.append(littleEndian: Self.checksum(bytes[...]))
    return bytes
  }

  /// FNV-1a, which distinguishes a torn record from a whole one.
  private static func checksum(_ bytes: ArraySlice<UInt8>) -> UInt64 {
    bytes.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01B3 }
  }
}
