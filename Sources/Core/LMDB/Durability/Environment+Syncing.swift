import LarderSystem
import Synchronization

/// The syncs of an environment's data file. The durability level decides when commits are synced.
extension Environment {
  /// Makes earlier commits survive a power failure at every level. Throws ``LMDBError/insideWrite`` in the thread's own write.
  package func sync() throws(LMDBError) {
    if let checkpoints { return try checkpoints.make(lockTimeout: handle.lockTimeout) }
    guard handle.locks.isWritable else { return }
    // The writer lock prevents commits, because a commit's own sync could succeed after this sync has failed and lost pages.
    try handle.withWriter { () throws(LMDBError) in
      try handle.locks.write.wait(lockTimeout: handle.lockTimeout)
      defer { handle.locks.write.release() }
      if let scratch { try scratch.flush() } else { try unsafe syncFile(of: handle.pointer) }
    }
  }

  /// At the level checkpointed: like ``sync()``, and lets LMDB reuse freed pages. Writers wait only while the call begins.
  package func checkpoint() throws(LMDBError) {
    try checkpoints?.make(lockTimeout: handle.lockTimeout)
  }

  /// Whether this process prevents LMDB from reusing pages that were freed after the process's last checkpoint.
  package var hasOutdatedPin: Bool { checkpoints?.hasOutdatedPin ?? false }

  /// The reason why a sync of the data file has failed, in any process. Nil if no sync has failed.
  var syncFailure: LMDBError? {
    do throws(LMDBError) {
      guard let record = try recovery?.file.read(), record.failure != 0 else { return nil }
      return LMDBError(code: record.failure)
    } catch { return error }
  }
}

/// The file `recovery` of an open environment, and the boot of the machine at the opening.
struct Recovery: Sendable {
  let handle: EnvironmentHandle
  let file: RecoveryFile
  let boot: BootIdentity

  /// Syncs the data file, and then writes a record to `recovery`. If a sync of any process fails, this process stops using the
  /// environment, because pages that it reads may be lost.
  func sync(
    at level: DurabilityLevel, isDirty: Bool = false, point: MetaImage? = nil
  ) throws(LMDBError) {
    let record = RecoveryRecord(
      level: level, boot: boot, isDirty: isDirty, data: handle.data.stamp, recoveryPoint: point)
    do throws(LMDBError) { try unsafe file.syncData(of: handle.pointer) } catch {
      handle.noteSyncFailure()
      throw error
    }
    try file.replace(record)
  }
}

/// The record in the file `recovery` at the level scratch: whether a power failure makes the data file worthless.
final class ScratchMark: Sendable {
  private let recovery: Recovery
  /// The result of ``RecoveryFile/changes()`` when this process last saw the environment marked as dirty.
  private let markedAt = Mutex<UInt64?>(nil)

  init(_ recovery: Recovery) { self.recovery = recovery }

  /// Marks the environment as dirty before the first change after a sync or a close. The caller holds `lock.write`.
  func markDirty() throws(LMDBError) {
    let changes = try recovery.file.changes()
    if markedAt.withLock({ $0 == changes }) { return }
    let (known, data) = (try recovery.file.readSynced(), recovery.handle.data.stamp)
    if known?.isDirty != true || known?.boot != recovery.boot || known?.data != data { try mark() }
    let now = try recovery.file.changes()
    markedAt.withLock { $0 = now }
  }

  /// First gives the synced data file a new stamp. Otherwise a recovery would also empty a restored earlier copy of the file.
  private func mark() throws(LMDBError) {
    let handle = recovery.handle
    do throws(LMDBError) { try recovery.file.checkSynced() } catch {
      handle.noteSyncFailure()
      throw error
    }
    let (stamp, place) = (handle.data.stamp.renewed, handle.data.pageSize - DataStamp.size)
    // With LMDB's descriptor of the data file, an open store needs no further descriptor.
    let descriptor = unsafe dataDescriptor(of: handle.pointer)
    try FileDescriptor.write(stamp.encoded, at: place, to: descriptor)
    try recovery.sync(at: .scratch, isDirty: true)
  }

  /// Whether commits may have been made after the last sync. True if the record cannot be read.
  var isDirty: Bool {
    (try? recovery.file.readSynced()).map { $0.isDirty || $0.data != recovery.handle.data.stamp }
      ?? true
  }

  /// Syncs the file, except if the file is clean. The caller has `lock.write`, or no other process uses the file.
  func flush() throws(LMDBError) { if isDirty { try recovery.sync(at: .scratch) } }
}
