import CLarderSystem
import LarderSystem

/// Restores the last state on the disk after a power failure; does nothing without one. The caller is alone.
///
/// If this is interrupted, the next opening repeats it: the record that asks for it is replaced last.
struct Recovery {
  let files: StoreFiles
  let options: EnvironmentOptions

  /// - Parameter fill: fills an environment that has to be created again.
  func run(_ fill: Opening.Filling) throws(OpenError) {
    guard let found = try unrecovered() else { return }
    if options.readOnly { throw OpenError(.needsRecovery, path: files.directory) }
    if found.record.level == .scratch {
      try Creation(files: files, options: options, level: .scratch).run(fill)
    }
    do throws(LMDBError) {
      if let point = found.record.recoveryPoint { try restore(point) }
      var record = found.record
      record.isDirty = false
      record.boot = try options.currentBoot
      try found.file.write(record)
    } catch {
      throw OpenError(.system, path: files.directory, cause: error)
    }
  }

  /// The record of an earlier boot, if the data file may differ from what that boot synced.
  private func unrecovered() throws(OpenError) -> (file: RecoveryFile, record: RecoveryRecord)? {
    if FileStatus.of(files.recovery) == nil { return nil }
    do throws(LMDBError) {
      let file = try RecoveryFile(opening: files.recovery, readOnly: options.readOnly)
      if let record = try file.read() {
        if try record.boot == options.currentBoot { return nil }
        let isAtPoint = try record.recoveryPoint.map { point throws(LMDBError) in
          try isAt(point)
        }
        let isSaved = isAtPoint ?? !record.isDirty
        return isSaved ? nil : (file, record)
      }
    } catch {
      throw OpenError(.system, path: files.directory, cause: error)
    }
    throw OpenError(.damaged, path: files.recovery, detail: "it has no valid record")
  }

  /// Whether LMDB would choose the recovery point: then no later commit reached the meta pages, and the pages of the point
  /// are as they were synced.
  private func isAt(_ point: MetaImage) throws(LMDBError) -> Bool {
    let file = try FileDescriptor(opening: files.data, O_RDONLY | O_NOFOLLOW)
    let own = try file.contents(at: point.place, count: MetaImage.size)
    let other = try file.contents(at: point.predecessor.place, count: MetaImage.size)
    return own == point.bytes && other.count == MetaImage.size
      && MetaImage(pageSize: point.pageSize, bytes: other).transaction == point.transaction &- 1
  }

  /// Makes LMDB choose the recovery point.
  private func restore(_ point: MetaImage) throws(LMDBError) {
    let file = try FileDescriptor(opening: files.data, O_RDWR | O_NOFOLLOW)
    try file.write(point.predecessor.bytes, at: point.predecessor.place)
    try file.write(point.bytes, at: point.place)
    try file.sync()
  }
}
