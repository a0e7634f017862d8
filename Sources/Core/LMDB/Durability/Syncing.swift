import CLMDB
import LarderSystem
import Synchronization

/// Syncs the data file of an environment to the disk whenever its durability level requires that.
struct Syncing: Sendable {
  let level: DurabilityLevel
  /// At the levels checkpointed and scratch.
  let recovery: RecoveryFile?
  /// At the level checkpointed.
  let checkpoints: Checkpoints?
  /// At the level scratch.
  let scratch: ScratchMark?
  private let handle: EnvironmentHandle
  private let isReadOnly: Bool

  init(
    _ level: DurabilityLevel, recovery: (file: RecoveryFile, boot: BootIdentity)?,
    of handle: EnvironmentHandle, files: OpenFiles, writeGuard: WriteGuard, timer: TimerThread?,
    options: EnvironmentOptions
  ) {
    self.level = level
    self.handle = handle
    self.recovery = recovery?.file
    isReadOnly = options.readOnly
    checkpoints =
      level != .checkpointed
      ? nil
      : recovery.map { file, boot in
        Checkpoints(
          file, boot, of: handle, files: files, writeGuard: writeGuard, timer: timer,
          interval: options.checkpointInterval)
      }
    scratch =
      level != .scratch
      ? nil : recovery.map { file, boot in ScratchMark(file: file, boot: boot, handle: handle) }
  }

  /// See ``Environment/sync()``.
  func sync() throws(LMDBError) {
    switch level {
    case .checkpointed: try checkpoints?.make(lockTimeout: handle.lockTimeout)
    case .scratch: try scratch?.sync()
    case .durable, .temporary: try syncAlone()
    }
  }

  /// Not beside a commit: if this sync failed, the commit's own could succeed without the pages that this one lost.
  private func syncAlone() throws(LMDBError) {
    guard handle.locks.isWritable else { return }
    try handle.withWriter { () throws(LMDBError) in
      try handle.locks.write.wait(lockTimeout: handle.lockTimeout)
      defer { handle.locks.write.release() }
      try handle.sync()
    }
  }

  /// At opening, in a process that may write.
  func noteFormerCommits() {
    if !isReadOnly { checkpoints?.noteFormerCommits() }
  }

  /// Throws from a failed sync of any process on, until the environment is recovered.
  func checkSynced() throws(LMDBError) { try recovery?.checkSynced() }

  /// Why a sync of the data file failed, in this process or another; nil if none did.
  var failure: LMDBError? {
    do throws(LMDBError) {
      guard let record = try recovery?.read(), record.failure != 0 else { return nil }
      return LMDBError(code: record.failure)
    } catch {
      return error
    }
  }

  /// A record for a data file that is completely on the disk: there is nothing to restore.
  func cleanRecord(of data: DataStamp) -> RecoveryRecord? {
    guard let boot = checkpoints?.boot ?? scratch?.boot else { return nil }
    return RecoveryRecord(level: level, boot: boot, data: data, recoveryPoint: nil)
  }

  /// In ``Environment/close()``, while other processes may continue. The caller owns the writer lock of an environment that
  /// was open.
  func flushForClosing() throws(LMDBError) {
    if isReadOnly { return }
    try checkSynced()
    try checkpoints?.makeForClosing()
  }

  /// Before another data file that is on the disk replaces this one: after a power failure either file is complete, and
  /// the recovery file asks for nothing. The caller holds `lock.opening`, is alone, and no write is possible any more.
  func flushForReplacing() throws(LMDBError) {
    if level == .temporary { return }
    guard let recovery, let record = cleanRecord(of: handle.meta.stamp) else {
      return try handle.sync()
    }
    try handle.sync(recovery)
    try recovery.write(record)
  }

  /// In the last process that closes the environment. The caller holds `lock.opening` and is alone.
  func flushAsLastProcess() throws(LMDBError) {
    if isReadOnly { return }
    try scratch?.flush()
    try checkpoints?.saveNewest()
  }

  /// Called before LMDB releases the environment.
  func end() { checkpoints?.end() }
}

/// The level scratch: whether the file `recovery` says that the data file is not to be trusted after a power failure.
final class ScratchMark: Sendable {
  private let file: RecoveryFile
  let boot: BootIdentity
  private let handle: EnvironmentHandle
  /// The number of recovery records when the environment was last seen marked as dirty.
  private let markedAt = Mutex<UInt64?>(nil)

  init(file: RecoveryFile, boot: BootIdentity, handle: EnvironmentHandle) {
    self.file = file
    self.boot = boot
    self.handle = handle
  }

  /// Before the first change after a sync or close, records on the disk that the file is not to be trusted after a power
  /// failure. The caller holds `lock.write`.
  func markDirty() throws(LMDBError) {
    let changes = try file.changes()
    if markedAt.withLock({ $0 == changes }) { return }
    let known = try file.readSynced()
    if known?.isDirty != true || known?.boot != boot { try mark() }
    let now = try file.changes()
    markedAt.withLock { $0 = now }
  }

  /// Gives the file a stamp of its own first, so that a copy of it from before is not taken for it and emptied. Everything that
  /// was committed before is on the disk.
  private func mark() throws(LMDBError) {
    do throws(LMDBError) {
      try file.checkSynced()
    } catch {
      handle.noteSyncFailure()
      throw error
    }
    try handle.meta.stamp.renewed.write(to: handle.files.data)
    try handle.sync(file)
    try write(isDirty: true)
  }

  /// Makes every commit so far survive a power failure. No process writes between the sync and the record of it.
  func sync() throws(LMDBError) {
    guard handle.locks.isWritable else { return }
    try handle.withWriter { () throws(LMDBError) in
      try handle.locks.write.wait(lockTimeout: handle.lockTimeout)
      defer { handle.locks.write.release() }
      try flush()
    }
  }

  /// The caller holds `lock.write` or is alone.
  func flush() throws(LMDBError) {
    if try file.readSynced()?.isDirty == false { return }
    try handle.sync(file)
    try write(isDirty: false)
  }

  private func write(isDirty: Bool) throws(LMDBError) {
    var record = RecoveryRecord(
      level: .scratch, boot: boot, data: handle.meta.stamp, recoveryPoint: nil)
    record.isDirty = isDirty
    try file.write(record)
  }
}
