import CLMDB
import CLarderSystem
import LarderSystem

extension Environment {
  /// Restores the last state on the disk after a power failure; does nothing without one. The caller is alone.
  ///
  /// If this is interrupted, the next opening repeats it: the record that asks for it is replaced last.
  static func recover(
    _ files: StoreFiles, options: EnvironmentOptions,
    prepare: (inout WriteTransaction) throws(LMDBError) -> Void
  ) throws(OpenError) {
    guard let found = try unrecovered(files, options) else { return }
    if options.readOnly { throw OpenError(.needsRecovery, path: files.directory) }
    if found.record.level == .scratch {
      try create(files, options: options, durability: .scratch, prepare: prepare)
    }
    do throws(LMDBError) {
      if let point = found.record.recoveryPoint { try restore(point, files.data) }
      var record = found.record
      record.isDirty = false
      record.boot = try options.currentBoot
      try found.file.write(record)
    } catch {
      throw OpenError(.system, path: files.directory, cause: error)
    }
  }

  /// The record of an earlier boot, if the data file may differ from what that boot synced.
  private static func unrecovered(
    _ files: StoreFiles, _ options: EnvironmentOptions
  ) throws(OpenError) -> (file: RecoveryFile, record: RecoveryRecord)? {
    if FileStatus.of(files.recovery) == nil { return nil }
    do throws(LMDBError) {
      let file = try RecoveryFile(opening: files.recovery, readOnly: options.readOnly)
      if let record = try file.read() {
        if try record.boot == options.currentBoot { return nil }
        let isAtPoint = try record.recoveryPoint.map { point throws(LMDBError) in
          try isAt(point, files.data)
        }
        return isAtPoint ?? !record.isDirty ? nil : (file, record)
      }
    } catch {
      throw OpenError(.system, path: files.directory, cause: error)
    }
    throw OpenError(.damaged, path: files.recovery, detail: "it has no valid record")
  }

  /// Whether LMDB would choose the recovery point: then no later commit reached the meta pages, and the pages of the point
  /// are as they were synced.
  private static func isAt(_ point: MetaImage, _ path: String) throws(LMDBError) -> Bool {
    let file = try FileDescriptor(opening: path, O_RDONLY | O_NOFOLLOW)
    let own = try file.contents(at: point.place, count: MetaImage.size)
    let other = try file.contents(at: point.predecessor.place, count: MetaImage.size)
    return own == point.bytes && other.count == MetaImage.size
      && MetaImage(pageSize: point.pageSize, bytes: other).transaction == point.transaction &- 1
  }

  /// Makes LMDB choose the recovery point.
  private static func restore(_ point: MetaImage, _ path: String) throws(LMDBError) {
    let file = try FileDescriptor(opening: path, O_RDWR | O_NOFOLLOW)
    try file.write(point.predecessor.bytes, at: point.predecessor.place)
    try file.write(point.bytes, at: point.place)
    try file.sync()
  }

  /// The newer meta page of a data file that no process has open.
  static func newestMeta(of path: String) throws(LMDBError) -> MetaImage {
    let file = try FileDescriptor(opening: path, O_RDONLY | O_NOFOLLOW)
    let first = try file.contents(at: 0, count: MetaImage.size)
    guard first.count == MetaImage.size else { throw .corrupted }
    let pageSize = UInt64(first.u32(40))
    guard let zero = MetaImage(pageSize: pageSize, bytes: first),
      let one = MetaImage(
        pageSize: pageSize,
        bytes: try file.contents(at: Int(pageSize), count: MetaImage.size))
    else { throw .corrupted }
    return zero.transaction < one.transaction ? one : zero
  }

  /// The level of the environment; durable if it has no record.
  static func readLevel(_ handle: OpaquePointer, _ level: inout DurabilityLevel) -> Int32 {
    var transaction: OpaquePointer?
    let begun = unsafe mdb_txn_begin(handle, nil, UInt32(MDB_RDONLY), &transaction)
    if begun != 0 { return begun }
    defer { unsafe mdb_txn_abort(transaction) }
    var main: MDB_dbi = 0
    let opened = unsafe mdb_dbi_open(transaction, nil, 0, &main)
    if opened != 0 { return opened }
    let key = DurabilityLevel.record
    do throws(LMDBError) {
      guard let value = try unsafe lookUp(key.span, in: .main, of: transaction!) else { return 0 }
      let bytes = unsafe Span<UInt8>(value)
      guard bytes.count == 1, let known = DurabilityLevel(rawValue: bytes[0]) else {
        return MDB_INVALID
      }
      level = known
      return 0
    } catch {
      return error.code
    }
  }
}

extension EnvironmentOptions {
  var currentBoot: BootIdentity {
    get throws(LMDBError) {
      if let boot { return boot }
      return try BootIdentity.current()
    }
  }
}
