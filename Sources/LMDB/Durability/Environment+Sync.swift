import CLMDB
import LarderSystem
import Synchronization

extension Environment {
  /// Makes everything committed so far survive a power cut, at every level.
  ///
  /// At the levels grouped and scratch not from inside a write of the same thread, which would trap.
  package func sync() throws(LMDBError) {
    switch durability {
    case .checkpointed: try checkpoint()
    case .scratch: try syncScratch()
    case .durable, .relaxed, .temporary:
      try withMap { () throws(LMDBError) in try check(unsafe mdb_env_sync(handle, 1)) }
    }
  }

  /// Scratch: before the first change after a sync or a close, says on the disk that the file can no longer be trusted
  /// after a power cut. Called with `lock.write` held.
  func markDirty() throws(LMDBError) {
    guard durability == .scratch, let checkpoints else { return }
    let changes = try checkpoints.file.changes()
    if checkpoints.state.withLock({ $0.markedAt == changes }) { return }
    let known = try checkpoints.file.readSynced()
    if known?.isDirty != true || known?.boot != checkpoints.boot {
      try markScratch(isDirty: true, checkpoints)
    }
    let now = try checkpoints.file.changes()
    checkpoints.state.withLock { $0.markedAt = now }
  }

  /// Nobody writes between the sync and the mark that says so.
  private func syncScratch() throws(LMDBError) {
    guard let checkpoints else { return }
    writer.enter()
    defer { writer.leave() }
    if !isOpen { throw phaseError }
    try locks.queue.wait(lockTimeout: lockTimeout)
    do {
      defer { locks.queue.release() }
      try locks.write.wait(lockTimeout: lockTimeout)
    }
    defer { locks.write.release() }
    try settleScratch(checkpoints)
  }

  /// With `lock.write` held, or alone.
  private func settleScratch(_ checkpoints: Checkpoints) throws(LMDBError) {
    if try checkpoints.file.readSynced()?.isDirty == false { return }
    try check(unsafe mdb_env_sync(handle, 1))
    try markScratch(isDirty: false, checkpoints)
  }

  private func markScratch(isDirty: Bool, _ checkpoints: Checkpoints) throws(LMDBError) {
    var record = RecoveryRecord(level: .scratch, boot: checkpoints.boot, point: nil)
    record.isDirty = isDirty
    try checkpoints.file.write(record)
  }

  /// What closing owes to the level while others may go on: called with the gate held, of an environment that was open.
  func settle() throws(LMDBError) {
    switch durability {
    case .checkpointed where hasCommitted.load(ordering: .relaxed): try checkpointForClosing()
    case .relaxed where hasCommitted.load(ordering: .relaxed):
      try check(unsafe mdb_env_sync(handle, 1))
    case .durable, .checkpointed, .relaxed, .scratch, .temporary: break
    }
  }

  /// Before another data file that is on the disk takes the place of this one: whichever is there after a power cut is
  /// whole, and the file `boot` asks for nothing. Called alone, with `lock.opening` held, when nobody can write any more.
  func settleForReplacing() throws(LMDBError) {
    if durability == .temporary { return }
    try check(unsafe mdb_env_sync(handle, 1))
    if let checkpoints { try checkpoints.file.write(checkpoints.settledRecord(durability)) }
  }

  /// What the last to close owes to the level: called alone, with `lock.opening` held.
  ///
  /// At the level grouped there is something to do only if a process was killed before its last checkpoint.
  func settleAlone() throws(LMDBError) {
    guard let checkpoints, !isReadOnly else { return }
    if durability == .scratch { return try settleScratch(checkpoints) }
    let newest = meta.image(of: meta.lastTransaction)
    if try checkpoints.file.read()?.boot == RecoveryRecord.noBoot { return }
    if try checkpoints.file.readSynced()?.point == newest { return }
    try check(unsafe mdb_env_sync(handle, 1))
    try checkpoints.file.write(
      RecoveryRecord(level: .checkpointed, boot: checkpoints.boot, point: newest))
  }
}
