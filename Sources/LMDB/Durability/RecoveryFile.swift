import CLMDB
import CLarderSystem
import LarderSystem

/// The file `boot` beside the data: two records that are written in turn, so that a torn one leaves the other, a number
/// that rises with each, and the sequence of the last one that was synced.
///
/// Who writes holds a lock between processes: `lock.checkpoint` at the level grouped, `lock.write` at scratch.
final class RecoveryFile: Sendable {
  private static let slot = 4096
  private static let changes = 2 * slot
  private static let synced = changes + 8
  private static let length = 3 * slot

  private let file: FileDescriptor

  /// - Throws: `ENOENT` if there is none.
  init(opening path: String) throws(LMDBError) {
    file = try FileDescriptor(opening: path, O_RDWR | O_NOFOLLOW)
  }

  /// Makes the file with its first record and all of its blocks, in the place of one that is there.
  static func create(_ path: String, _ record: RecoveryRecord) throws(LMDBError) {
    if FileStatus.of(path) != nil { try checkErrno { unsafe unlink(path) } }
    let file = try FileDescriptor(opening: path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW)
    try file.allocate(length)
    try RecoveryFile(file).write(record)
  }

  private init(_ file: consuming FileDescriptor) { self.file = file }

  /// The newer of the whole records.
  func read() throws(LMDBError) -> RecoveryRecord? {
    var newest: RecoveryRecord?
    for slot in 0...1 {
      let bytes = try file.contents(at: slot * Self.slot, count: RecoveryRecord.size)
      guard let record = RecoveryRecord(bytes) else { continue }
      if newest.map({ $0.sequence < record.sequence }) ?? true { newest = record }
    }
    return newest
  }

  /// The same if it is on the disk for certain. Who wrote it may have been killed before it was.
  func readSynced() throws(LMDBError) -> RecoveryRecord? {
    guard let record = try read(),
      try word(at: Self.synced) == record.sequence
    else { return nil }
    return record
  }

  /// Puts a record on the disk, as the newest.
  ///
  /// The number rises first: who dies in between leaves others to read again what they know, never the other way round.
  func write(_ record: RecoveryRecord) throws(LMDBError) {
    var record = record
    record.sequence = (try read()?.sequence ?? 0) + 1
    try file.write([UInt8](littleEndian: try changes() + 1), at: Self.changes)
    try file.write(record.encoded, at: Int(record.sequence % 2) * Self.slot)
    try file.sync()
    try file.write([UInt8](littleEndian: record.sequence), at: Self.synced)
  }

  /// How many records were written, as of now; costs one system call.
  func changes() throws(LMDBError) -> UInt64 {
    try word(at: Self.changes)
  }

  /// 0 if the file was cut short before it.
  private func word(at offset: Int) throws(LMDBError) -> UInt64 {
    let bytes = try file.contents(at: offset, count: 8)
    return bytes.count == 8 ? bytes.u64(0) : 0
  }
}
