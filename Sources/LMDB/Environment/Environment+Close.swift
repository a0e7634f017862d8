import CLMDB
import LarderSystem
import Synchronization

extension Environment {
  /// Ends this process's use of the environment: waits for the current write and reads, then releases everything.
  ///
  /// Every new call throws ``LMDBError/closed`` from the start. In a forked child this does nothing: the parent owns all.
  ///
  /// - Returns: false if a read did not end within the environment's lock timeout. The environment then stays mapped.
  ///   Closing it again or opening it again finishes the work, or fails while the read continues.
  @discardableResult
  package func close() -> Bool {
    if isForked { return true }
    // A precondition has no message in a release build.
    if writer.isMine { fatalError("closing a store inside one of its own writes") }
    let wasSound = unsafe phase.pointee.change(ForkState.open, to: ForkState.closed)
    _ = unsafe phase.pointee.change(ForkState.broken, to: ForkState.closed)
    timer?.stop()
    writer.enter()
    defer { writer.leave() }
    if wasSound { flushForClosing() }
    return release(lockTimeout: lockTimeout)
  }

  /// Except for a failed sync, a failed flush equals a kill: no commit is lost. ``sync()`` reports errors.
  private func flushForClosing() {
    isFlushed.store(true, ordering: .relaxed)
    do throws(LMDBError) { try flush() } catch { isFlushed.store(false, ordering: .relaxed) }
  }

  /// The failed sync after which the next opening has only the last checkpoint; nil the next time. For callers of
  /// ``close()``: it returns before anyone has seen a failure of the checkpoint that it makes.
  package func takeSyncFailure() -> LMDBError? {
    let code = syncFailure.exchange(0, ordering: .relaxed)
    return code == 0 ? nil : LMDBError(code: code)
  }

  /// Finishes ``close()`` if that needs no waiting. Also closes an environment that LMDB cannot continue.
  func finishClosing() -> Bool {
    _ = unsafe phase.pointee.change(ForkState.broken, to: ForkState.closed)
    guard writer.tryEnter() else { return false }
    defer { writer.leave() }
    return release(lockTimeout: .zero)
  }

  /// Releases the map, the locks and the table entry once; returns whether that is done. The caller owns `writer`.
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

  /// Closes LMDB's environment while no other process opens it. If `lock.opening` stays busy it closes without the lock:
  /// closing must not fail.
  private func closeAlone() {
    let failure: LMDBError?
    do throws(LMDBError) {
      try locks.opening.wait(lockTimeout: lockTimeout)
      failure = nil
    } catch {
      failure = error
    }
    if failure == nil, isFlushed.load(ordering: .relaxed) { flushIfAlone() }
    unsafe mdb_env_close(handle)
    locks.open.release()
    if failure == nil { locks.opening.release() }
  }

  /// Trying to take `lock.open` exclusively may release the shared lock; no process can open meanwhile.
  private func flushIfAlone() {
    do throws(LMDBError) {
      if try locks.open.take() { try flushAsLastProcess() }
    } catch {
      // As in `flushForClosing`.
    }
  }

  /// Called when the last reference is released. If a read still continues, its map and slot stay until the process ends.
  func closeForGood() {
    if !close() { _ = unsafe Unmanaged.passRetained(readers) }
  }
}
