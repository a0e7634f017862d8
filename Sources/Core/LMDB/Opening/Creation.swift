import CLMDB
import CLarderSystem
import LarderSystem

/// Creates a data file under a temporary name and renames it. So a kill or a power failure leaves either no store or a complete
/// store. The caller holds `lock.opening` and is alone.
struct Creation {
  let files: StoreFiles
  let options: EnvironmentOptions
  let level: DurabilityLevel

  func run(_ fill: Opening.Filling) throws(OpenError) {
    let isReplacing = try files.hasData
    do throws(LMDBError) {
      let former = isReplacing ? try DataStamp(of: files.data) : leftStamp
      try build(fill, former?.renewed ?? .new)
      try prepareRecoveryFile(isReplacing: isReplacing)
      try checkErrno { unsafe rename(files.newData, files.data) }
      if level == .temporary { return }
      try FileStatus.syncDirectory(files.directory)
      try FileStatus.syncParent(of: files.directory)
    } catch {
      let cause = error.explained(writing: files.newData)
      // If this fails, the next process that creates the store removes the file.
      unsafe unlink(files.newData)
      // After a failed sync of the directory, no later sync would put the name of the new file on the disk.
      if !isReplacing { unsafe unlink(files.data) }
      throw OpenError(.notCreated, path: files.directory, cause: cause)
    }
  }

  /// The stamp that a failed creation has left in `recovery`. A power failure may bring back the data file of that creation,
  /// beside the `recovery` of this creation: then both files must belong to one store.
  private var leftStamp: DataStamp? {
    guard FileStatus.of(files.recovery)?.isRegularFile == true else { return nil }
    do throws(LMDBError) {
      return try RecoveryFile(opening: files.recovery, readOnly: true).read()?.data
    } catch {
      // The new file replaces the unreadable file.
      return nil
    }
  }

  /// Removes the file that a killed creation or compaction has left. The caller holds `lock.opening` and is alone.
  static func removeUnfinished(_ files: StoreFiles) throws(OpenError) {
    do throws(LMDBError) {
      try FileStatus.remove(files.newData)
    } catch {
      throw OpenError(.system, path: files.newData, cause: error)
    }
  }

  /// Makes the file `recovery` before the data file of a new environment exists; removes it at a level without the file.
  private func prepareRecoveryFile(isReplacing: Bool) throws(LMDBError) {
    guard level.hasRecoveryFile else {
      if !isReplacing { try FileStatus.remove(files.recovery) }
      return
    }
    // An environment that is being emptied keeps its record until it is empty.
    if isReplacing { return }
    let point = level == .checkpointed ? try MetaImage.newest(of: files.newData) : nil
    try RecoveryFile.create(
      files.recovery,
      RecoveryRecord(
        level: level, boot: try options.currentBoot, data: try DataStamp(of: files.newData),
        recoveryPoint: point))
    try FileStatus.syncDirectory(files.directory)
  }

  private func build(_ fill: Opening.Filling, _ stamp: DataStamp) throws(LMDBError) {
    var created: OpaquePointer?
    try check(unsafe mdb_env_create(&created))
    let handle = unsafe created!
    defer { unsafe mdb_env_close(handle) }
    try check(unsafe mdb_env_set_maxdbs(handle, UInt32(options.databases.count)))
    try check(unsafe mdb_env_set_mapsize(handle, 64 << 20))
    // The finished file is synced instead of each commit.
    let flags = UInt32(MDB_NOSUBDIR | MDB_NOLOCK | MDB_NOSYNC)
    try check(unsafe mdb_env_open(handle, files.newData, flags, 0o600))
    var databases: [Database] = []
    try check(
      unsafe Opening.openDatabases(handle, names: options.databases, create: true, &databases))
    try unsafe write(fill, handle)
    try stamp.write(to: files.newData)
    if level != .temporary { try unsafe syncFile(of: handle) }
  }

  private func write(_ fill: Opening.Filling, _ handle: OpaquePointer) throws(LMDBError) {
    var begun: OpaquePointer?
    try check(unsafe mdb_txn_begin(handle, nil, 0, &begun))
    var transaction = unsafe WriteTransaction(handle: begun!, environment: nil)
    let (key, level) = (DurabilityLevel.record, [level.rawValue])
    try transaction.put(level.span, for: key.span, in: .main)
    try fill(&transaction)
    try transaction.commit()
  }
}

/// Changes the durability level of an environment. The caller holds `lock.opening` and `lock.write` and is alone.
///
/// First everything is synced, and `recovery` asks for no recovery. So wherever the change is interrupted, neither level has
/// anything to restore. The record in the data file decides which level holds.
struct LevelChange {
  let files: StoreFiles
  let options: EnvironmentOptions
  let level: DurabilityLevel

  func run() throws(OpenError) {
    do throws(LMDBError) {
      var created: OpaquePointer?
      try check(unsafe mdb_env_create(&created))
      let handle = unsafe created!
      defer { unsafe mdb_env_close(handle) }
      try unsafe Opening.configure(handle, files: files, options: options)
      try check(unsafe mdb_env_open(handle, files.data, UInt32(MDB_NOSUBDIR | MDB_NOLOCK), 0o600))
      var former = DurabilityLevel.durable
      try check(unsafe DurabilityLevel.read(from: handle, &former))
      if former == level { return }
      let known =
        FileStatus.of(files.recovery) == nil ? nil : try RecoveryFile(opening: files.recovery)
      if let known {
        try unsafe known.syncData(of: handle)
      } else {
        try unsafe syncFile(of: handle)
      }
      if former.hasRecoveryFile || level.hasRecoveryFile {
        let record = RecoveryRecord(
          level: level, boot: try options.currentBoot, data: try DataStamp(of: files.data),
          recoveryPoint: nil)
        if let known {
          try known.write(record)
        } else {
          try RecoveryFile.create(files.recovery, record)
          try FileStatus.syncDirectory(files.directory)
        }
      }
      try unsafe record(level, in: handle)
      if former.hasRecoveryFile, !level.hasRecoveryFile {
        try FileStatus.remove(files.recovery)
        try FileStatus.syncDirectory(files.directory)
      }
    } catch {
      throw OpenError(.system, path: files.directory, cause: error)
    }
  }

  /// Writes the record of the level in a transaction that is on the disk when this call returns.
  private func record(_ level: DurabilityLevel, in handle: OpaquePointer) throws(LMDBError) {
    var begun: OpaquePointer?
    try check(unsafe mdb_txn_begin(handle, nil, 0, &begun))
    var transaction = unsafe WriteTransaction(handle: begun!, environment: nil)
    var main: MDB_dbi = 0
    try check(unsafe mdb_dbi_open(begun, nil, 0, &main))
    let (key, value) = (DurabilityLevel.record, [level.rawValue])
    try transaction.put(value.span, for: key.span, in: .main)
    try transaction.commit()
  }
}
