import CLMDB
import LarderSystem
import Synchronization

extension Environment {
  /// Ends this process's use of the environment: waits for the write and the reads under way, then lets go of all.
  ///
  /// From the first moment every new call answers ``LMDBError/closed``. A forked child only forgets: the parent still
  /// owns it all.
  ///
  /// - Returns: false if a read did not end within the environment's lockTimeout. The environment then stays mapped, and
  ///   closing it again or opening it anew finishes the work, or fails while the read goes on.
  @discardableResult
  package func close() -> Bool {
    precondition(!writer.isMine, "closing a store inside one of its own writes")
    let wasSound = unsafe phase.pointee.change(ForkState.open, to: ForkState.closed)
    _ = unsafe phase.pointee.change(ForkState.broken, to: ForkState.closed)
    writer.enter()
    defer { writer.leave() }
    if wasSound { settleIfPossible() }
    return release(lockTimeout: lockTimeout)
  }

  /// What cannot be put on the disk now is where a kill would have left it: the level's promise holds, and who wants to
  /// hear of it syncs first.
  private func settleIfPossible() {
    isSettled.store(true, ordering: .relaxed)
    do throws(LMDBError) { try settle() } catch { isSettled.store(false, ordering: .relaxed) }
  }

  /// Does what is left to do of ``close()``, if that needs no waiting. An environment that LMDB gave up is closed, too.
  func finishClosing() -> Bool {
    _ = unsafe phase.pointee.change(ForkState.broken, to: ForkState.closed)
    guard writer.tryEnter() else { return false }
    defer { writer.leave() }
    return release(lockTimeout: .zero)
  }

  /// Gives the map, the locks and the entry in the table back, once; true if that is done. Called with the writer's gate
  /// held.
  private func release(lockTimeout: Duration) -> Bool {
    if unsafe phase.pointee.current != ForkState.closed { return true }
    let idle: Void? = readers.withAllIdle(lockTimeout: lockTimeout) {
      guard unsafe phase.pointee.change(ForkState.closed, to: ForkState.released) else {
        return
      }
      readers.abortAll()
      checkpoints?.end()
      closeAlone()
      EnvironmentTable.forget(identity)
    }
    return idle != nil
  }

  /// Closing must not race with another process opening, but it must not fail either: after the usual wait it goes on.
  private func closeAlone() {
    let waited: LMDBError?
    do throws(LMDBError) {
      try locks.opening.wait(lockTimeout: lockTimeout)
      waited = nil
    } catch {
      waited = error
    }
    if waited == nil, isSettled.load(ordering: .relaxed) { settleIfAlone() }
    unsafe mdb_env_close(handle)
    locks.open.release()
    if waited == nil { locks.opening.release() }
  }

  /// Nobody can open while `lock.opening` is held, so the presence that asking may cost is not missed.
  private func settleIfAlone() {
    do throws(LMDBError) {
      if try locks.open.take() { try settleAlone() }
    } catch {
      // As in `settleIfPossible`.
    }
  }

  /// The last reference is gone. A read that is still under way has lost the environment it was lent by; better a map
  /// and a lock that stay until the process ends than a read of memory that is gone.
  func closeForGood() {
    if !close() { _ = unsafe Unmanaged.passRetained(readers) }
  }
}
