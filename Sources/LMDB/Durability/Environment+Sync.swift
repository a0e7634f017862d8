import CLMDB
import CLarderSystem
import LarderSystem
import Synchronization

/// Flushes the data file to the disk; repeats a sync that a signal interrupted, which has lost nothing.
func syncFile(of handle: OpaquePointer) throws(LMDBError) {
  var code: Int32
  repeat { code = unsafe mdb_env_sync(handle, 1) } while code == EINTR
  try check(code)
}

extension Environment {
  /// Makes every commit so far survive a power failure, at every level.
  ///
  /// - Throws: ``LMDBError/insideWrite`` inside a write of the same thread, at the levels checkpointed and scratch.
  package func sync() throws(LMDBError) {
    switch durability {
    case .checkpointed: try checkpoint()
    case .scratch: try syncScratch()
    case .durable, .temporary:
      if !locks.isWritable { return }
      try withMap { () throws(LMDBError) in try unsafe syncFile(of: handle) }
    }
  }

  /// Scratch: before the first change after a sync or close, records on the disk that the file is not to be trusted after
  /// a power failure. The caller holds `lock.write`.
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

  /// No process writes between the sync and the record of it.
  private func syncScratch() throws(LMDBError) {
    guard locks.isWritable, let checkpoints else { return }
    if !isOpen { throw phaseError }
    if writer.isMine { throw .insideWrite }
    writer.enter()
    defer { writer.leave() }
    if !isOpen { throw phaseError }
    try locks.write.wait(lockTimeout: lockTimeout)
    defer { locks.write.release() }
    try flushScratch(checkpoints)
  }

  /// The caller holds `lock.write` or is alone.
  private func flushScratch(_ checkpoints: Checkpoints) throws(LMDBError) {
    if try checkpoints.file.readSynced()?.isDirty == false { return }
    try unsafe syncFile(of: handle)
    try markScratch(isDirty: false, checkpoints)
  }

  private func markScratch(isDirty: Bool, _ checkpoints: Checkpoints) throws(LMDBError) {
    var record = RecoveryRecord(level: .scratch, boot: checkpoints.boot, recoveryPoint: nil)
    record.isDirty = isDirty
    try checkpoints.file.write(record)
  }

  /// In ``close()``, while other processes may continue. The caller owns the writer lock of an environment that was open.
  func flush() throws(LMDBError) {
    if durability == .checkpointed, hasCommitted.load(ordering: .relaxed) {
      try checkpointForClosing()
    }
  }

  /// Before another data file that is on the disk replaces this one: after a power failure either file is complete, and
  /// the recovery file asks for nothing. The caller holds `lock.opening`, is alone, and no write is possible any more.
  func flushForReplacing() throws(LMDBError) {
    if durability == .temporary { return }
    try unsafe syncFile(of: handle)
    if let checkpoints { try checkpoints.file.write(checkpoints.cleanRecord(durability)) }
  }

  /// In the last process that closes the environment. The caller holds `lock.opening` and is alone.
  ///
  /// At the level checkpointed there is work only if a process was killed before its last checkpoint.
  func flushAsLastProcess() throws(LMDBError) {
    guard let checkpoints, !isReadOnly else { return }
    if durability == .scratch { return try flushScratch(checkpoints) }
    let newest = meta.image(of: meta.lastTransaction)
    if try checkpoints.file.read()?.boot == RecoveryRecord.noBoot { return }
    if try checkpoints.file.readSynced()?.recoveryPoint == newest { return }
    try unsafe syncFile(of: handle)
    try checkpoints.file.write(
      RecoveryRecord(level: .checkpointed, boot: checkpoints.boot, recoveryPoint: newest))
  }
}
