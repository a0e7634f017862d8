import CLarderSystem
import LarderSystem

/// Restores the last state on the disk after a power failure or a failed sync. No other process has the environment open. The
/// record that demands the recovery is replaced last. So if a recovery is interrupted, the next opening repeats the recovery.
extension Opening {
  /// - Parameter fill: writes the first records of an environment that must be created again.
  func recover(_ fill: Filling) throws(OpenError) {
    if FileStatus.of(files.recovery) == nil { return }
    let file = try system { () throws(LMDBError) in
      try RecoveryFile(opening: files.recovery, readOnly: options.readOnly)
    }
    let found = try system { () throws(LMDBError) in try file.read() }
    let (data, newest): (DataStamp, MetaImage)
    do throws(LMDBError) {
      (data, newest) = (try DataStamp(of: files.data), try MetaImage.newest(of: files.data))
    } catch .corrupted {
      // Ignores this error, because the later check of the data file reports the damage.
      return
    } catch {
      // The file may need recovery, so an error such as a missing descriptor must not skip the recovery.
      throw OpenError(error, in: files.directory)
    }
    guard let record = found, record.data.store == data.store else {
      // An interrupted change of the level leaves a file without a record. The level in the data file may need no record.
      if try !QuickCheck(path: files.data).durability().hasRecoveryFile { return }
      if found != nil { throw OpenError(.otherRecovery, path: files.recovery) }
      throw OpenError(.damaged, path: files.recovery, detail: "it has no valid record")
    }
    var next = record
    if record.isAbout(data, newest: newest) {
      guard try system({ () throws(LMDBError) in try asksForRecovery(record) }) else { return }
      if options.readOnly { throw OpenError(.needsRecovery, path: files.directory) }
      if record.level == .scratch, record.isDirty { try createData(at: .scratch, fill) }
      if let point = record.recoveryPoint {
        try system { () throws(LMDBError) in
          let file = try FileDescriptor(opening: files.data, O_RDWR | O_NOFOLLOW)
          try file.write(point.predecessor.bytes, at: point.predecessor.place)
          try file.write(point.bytes, at: point.place)
        }
      }
    } else {
      // The record is about another data file: this file is a restored backup or a compacted copy. So this file is checked. A new
      // stamp distinguishes its later commits from commits with the same numbers in other copies, which may be restored later.
      try QuickCheck.run(files, options)
      if options.readOnly { return }
      next.recoveryPoint = nil
      try system { () throws(LMDBError) in try data.renewed.write(to: files.data) }
    }
    try system { () throws(LMDBError) in
      next.data = try DataStamp(of: files.data)
      next.boot = try options.currentBoot
      (next.isDirty, next.failure) = (false, 0)
      // The data file may have got its name by a rename that is not on the disk yet, so the directory is synced, too.
      try FileDescriptor(opening: files.data, O_RDWR | O_NOFOLLOW).sync()
      try FileStatus.syncDirectory(files.directory)
      try file.replace(next)
    }
  }

  /// Whether recovery is necessary: a sync has failed, or the data file may differ from the state that an earlier boot synced.
  private func asksForRecovery(_ record: RecoveryRecord) throws(LMDBError) -> Bool {
    if record.isFailed { return true }
    if try record.boot == options.currentBoot { return false }
    guard let point = record.recoveryPoint else { return record.isDirty }
    return try !isAt(point)
  }

  /// Whether LMDB would open the recovery point. If so, no later commit has changed the meta pages or the point's pages.
  private func isAt(_ point: MetaImage) throws(LMDBError) -> Bool {
    let file = try FileDescriptor(opening: files.data, O_RDONLY | O_NOFOLLOW)
    let own = try file.contents(at: point.place, count: MetaImage.size)
    let other = try file.contents(at: point.predecessor.place, count: MetaImage.size)
    return own == point.bytes && other.count == MetaImage.size
      && MetaImage(pageSize: point.pageSize, bytes: other).transaction == point.transaction &- 1
  }
}
