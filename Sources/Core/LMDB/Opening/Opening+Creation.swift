import CLMDB
import CLarderSystem
import LarderSystem

extension Opening {
  /// Makes and renames a data file, so a kill leaves no partial store. The caller holds `lock.opening`, and is alone.
  func createData(at level: DurabilityLevel, _ fill: Filling) throws(OpenError) {
    let isReplacing = try files.hasData
    do throws(LMDBError) {
      let former = isReplacing ? try DataStamp(of: files.data) : leftStamp
      try build(fill, former?.renewed ?? .new, level)
      // An environment that is being emptied keeps its record in `recovery` until the new, empty data file is in place.
      if !isReplacing { try prepareRecoveryFile(level) }
      try checkErrno { unsafe rename(files.newData, files.data) }
      if level == .temporary { return }
      try FileStatus.syncDirectory(files.directory)
      try FileStatus.syncParent(of: files.directory)
    } catch {
      let cause = error.explained(writing: files.newData)
      // If this call fails, the file stays, and the next process that creates the store removes the file.
      unsafe unlink(files.newData)
      // After a failed sync of the directory, the file's name may never get to the disk, so the file is removed.
      if !isReplacing { unsafe unlink(files.data) }
      throw OpenError(.notCreated, path: files.directory, cause: cause)
    }
  }

  /// The stamp of a failed creation. A power failure may restore its data file, so the new file gets the same store number.
  private var leftStamp: DataStamp? {
    guard FileStatus.of(files.recovery)?.isRegularFile == true else { return nil }
    return try? RecoveryFile(opening: files.recovery, readOnly: true).read()?.data
  }

  /// Makes the file `recovery` before the data file of a new environment exists. Removes the file if the level needs none.
  private func prepareRecoveryFile(_ level: DurabilityLevel) throws(LMDBError) {
    guard level.hasRecoveryFile else { return try FileStatus.remove(files.recovery) }
    let point = level == .checkpointed ? try MetaImage.newest(of: files.newData) : nil
    try RecoveryFile.create(
      files.recovery,
      RecoveryRecord(
        level: level, boot: try options.currentBoot, data: try DataStamp(of: files.newData),
        recoveryPoint: point))
    try FileStatus.syncDirectory(files.directory)
  }

  private func build(
    _ fill: Filling, _ stamp: DataStamp, _ level: DurabilityLevel
  ) throws(LMDBError) {
    // LMDB need not sync each commit, because the finished file is synced as a whole.
    let file = try UnlockedFile(
      files.newData, databases: options.databases.count, mapSize: 64 << 20, flags: MDB_NOSYNC)
    _ = try unsafe Self.openDatabases(file.handle, names: options.databases, create: true)
    try file.write { transaction throws(LMDBError) in
      try transaction.put(level)
      try fill(&transaction)
    }
    try stamp.write(to: files.newData)
    if level != .temporary { try unsafe syncFile(of: file.handle) }
  }

  /// Changes the durability level of an environment that no process has open. The caller holds `lock.opening` and `lock.write`.
  ///
  /// First syncs all data, and writes to `recovery` a record that demands no recovery. So if the change is interrupted at any
  /// point, neither level has anything to restore. The record in the data file says which of the two levels is valid.
  func changeLevel(to level: DurabilityLevel) throws(OpenError) {
    let check = try QuickCheck(path: files.data)
    let former = try check.durability()
    if former == level { return }
    if former.hasRecoveryFile, FileStatus.of(files.recovery) == nil {
      throw OpenError(.damaged, path: files.recovery, detail: "it is missing")
    }
    try check.checkWriteOfLevel(databases: options.databases)
    try system { () throws(LMDBError) in
      let file = try UnlockedFile(
        files.data, databases: options.databases.count,
        mapSize: MapSize.initial(
          options.mapSize, fileSize: Environment.fileSize(at: files.directory)))
      // Without this call LMDB could not write to the main database.
      _ = try file.open(nil)
      // If the former level has no such file, an interrupted change may have left an incomplete file, which must be replaced.
      let known = former.hasRecoveryFile ? try RecoveryFile(opening: files.recovery) : nil
      if let known {
        try unsafe known.syncData(of: file.handle)
      } else {
        try unsafe syncFile(of: file.handle)
      }
      // The later records must not match a copy of the data file that was made before this change.
      let data = try DataStamp(of: files.data).renewed
      try data.write(to: files.data)
      let record = RecoveryRecord(level: level, boot: try options.currentBoot, data: data)
      if let known {
        try known.replace(record)
      } else {
        try RecoveryFile.create(files.recovery, record)
        try FileStatus.syncDirectory(files.directory)
      }
      // LMDB itself syncs this commit, so no other sync follows.
      try file.write { transaction throws(LMDBError) in try transaction.put(level) }
      if !level.hasRecoveryFile {
        try FileStatus.remove(files.recovery)
        try FileStatus.syncDirectory(files.directory)
      }
    }
  }
}
