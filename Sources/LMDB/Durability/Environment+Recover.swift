import CLMDB
import CLarderSystem
import LarderSystem

extension Environment {
  /// Mends what a power cut left, or proves that there was none. Called with `lock.opening` held, of a data file that
  /// nobody has open.
  ///
  /// Whatever it writes it writes again if it is interrupted: the record that asks for it is replaced last.
  static func recover(
    _ files: StoreFiles, options: EnvironmentOptions,
    prepare: (inout WriteTransaction) throws(LMDBError) -> Void
  ) throws(OpenError) {
    guard let found = try unsettled(files, options) else { return }
    if options.readOnly { throw OpenError(.needsRecovery, path: files.directory) }
    if found.record.level == .scratch {
      try create(files, options: options, durability: .scratch, prepare: prepare)
    }
    do throws(LMDBError) {
      if let point = found.record.point { try restore(point, files.data) }
      var record = found.record
      record.isDirty = false
      record.boot = try options.currentBoot
      try found.file.write(record)
    } catch {
      throw OpenError(.system, path: files.directory, cause: error)
    }
  }

  /// The record of an earlier start of the machine, if the data file is not as that start left it on the disk.
  private static func unsettled(
    _ files: StoreFiles, _ options: EnvironmentOptions
  ) throws(OpenError) -> (file: RecoveryFile, record: RecoveryRecord)? {
    if FileStatus.of(files.boot) == nil { return nil }
    do throws(LMDBError) {
      let file = try RecoveryFile(opening: files.boot)
      if let record = try file.read() {
        if try record.boot == options.currentBoot { return nil }
        let isSettled = try record.point.map { point throws(LMDBError) in
          try isAt(point, files.data)
        }
        return isSettled ?? !record.isDirty ? nil : (file, record)
      }
    } catch {
      throw OpenError(.system, path: files.directory, cause: error)
    }
    throw OpenError(.damaged, path: files.boot, detail: "it has no whole record")
  }

  /// Whether the point is what LMDB would choose: then nothing behind it reached the meta pages, and its own pages are
  /// as they were synced.
  private static func isAt(_ point: MetaImage, _ path: String) throws(LMDBError) -> Bool {
    let file = try FileDescriptor(opening: path, O_RDONLY | O_NOFOLLOW)
    let own = try file.contents(at: point.place, count: MetaImage.size)
    let other = try file.contents(at: point.predecessor.place, count: MetaImage.size)
    return own == point.bytes && other.count == MetaImage.size
      && MetaImage(pageSize: point.pageSize, bytes: other).transaction == point.transaction - 1
  }

  /// Makes LMDB choose the point.
  private static func restore(_ point: MetaImage, _ path: String) throws(LMDBError) {
    let file = try FileDescriptor(opening: path, O_RDWR | O_NOFOLLOW)
    try file.write(point.predecessor.bytes, at: point.predecessor.place)
    try file.write(point.bytes, at: point.place)
    try file.sync()
  }

  /// What a data file says of itself that nobody has open.
  static func newestMeta(of path: String) throws(LMDBError) -> MetaImage {
    let file = try FileDescriptor(opening: path, O_RDONLY | O_NOFOLLOW)
    let pageSize = Int(try file.contents(at: 0, count: MetaImage.size).u32(40))
    let pages = [0, pageSize]
    var newest: MetaImage?
    for place in pages {
      let image = MetaImage(
        pageSize: pageSize, bytes: try file.contents(at: place, count: MetaImage.size))
      if newest.map({ $0.transaction < image.transaction }) ?? true { newest = image }
    }
    return newest!
  }

  /// The level that the environment has; durable if it says nothing.
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
