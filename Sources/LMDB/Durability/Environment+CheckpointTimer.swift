import LarderSystem
import Synchronization

/// When checkpoints are made: a fixed interval after the first commit that the last one does not cover.
extension Environment {
  /// After each commit. The caller owns the writer lock.
  func noteCommit() {
    hasCommitted.store(true, ordering: .relaxed)
    guard durability == .checkpointed, let checkpoints else { return }
    let size = meta.pages * meta.pageSize
    let delay = checkpoints.state.withLock { state -> Int64? in
      let isFirst = state.unsavedSince == nil
      if isFirst { state.unsavedSince = SystemTime.monotonicMilliseconds }
      if !state.isUrgent, size - state.pages * meta.pageSize > Checkpoints.growth {
        state.isUrgent = true
        return 0
      }
      return isFirst ? checkpoints.interval : nil
    }
    if let delay { timer?.schedule(in: delay) }
  }

  /// At opening: commits of a process that was killed before their checkpoint get one as if they were made now.
  func noteFormerCommits() {
    guard durability == .checkpointed, !isReadOnly, let checkpoints else { return }
    do throws(LMDBError) {
      if try isNewestSaved(checkpoints) { return }
    } catch {
      // The checkpoint meets the same error, and the next write throws it.
    }
    let isFirst = checkpoints.state.withLock { state in
      defer { state.unsavedSince = state.unsavedSince ?? SystemTime.monotonicMilliseconds }
      return state.unsavedSince == nil
    }
    if isFirst { timer?.schedule(in: checkpoints.interval) }
  }

  private func isNewestSaved(_ checkpoints: Checkpoints) throws(LMDBError) -> Bool {
    guard let known = try checkpoints.file.readSynced(), known.boot == checkpoints.boot else {
      return false
    }
    return known.recoveryPoint?.transaction == meta.lastTransaction
  }

  /// Called by the timer thread, at the requested times or earlier.
  func checkpointIfDue() {
    guard isOpen, durability == .checkpointed, let checkpoints else { return }
    let left = checkpoints.state.withLock { state -> Int64? in
      if state.isUrgent { return 0 }
      return state.unsavedSince.map { $0 + checkpoints.interval - SystemTime.monotonicMilliseconds }
    }
    guard let left else { return }
    if left > 0 {
      timer?.schedule(in: left)
      return
    }
    do throws(LMDBError) {
      try checkpoint()
      releaseIdlePin(checkpoints)
    } catch {
      // The commits stay unsaved. The next write tries again and throws the error.
      if isOpen { timer?.schedule(in: checkpoints.interval) }
    }
  }

  /// A process that stops writing does not keep the pages of other processes' commits from being reused.
  private func releaseIdlePin(_ checkpoints: Checkpoints) {
    guard writer.tryEnter() else { return }
    defer { writer.leave() }
    if isOpen, checkpoints.state.withLock({ $0.unsavedSince == nil }) { checkpoints.move(to: nil) }
  }

  /// Whether this process's pin keeps pages from being reused that were freed since its last checkpoint.
  package var hasOutdatedPin: Bool {
    guard isOpen, let pin = checkpoints?.state.withLock({ $0.pin?.id }) else { return false }
    return pin < meta.lastTransaction
  }

  /// How long other processes may take to move or release their pins.
  var timeForCheckpoints: Duration {
    guard durability == .checkpointed, let checkpoints else { return .zero }
    return .milliseconds(3 * checkpoints.interval)
  }
}
