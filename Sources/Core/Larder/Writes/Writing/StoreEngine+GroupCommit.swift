import Dispatch
import LMDB
import LarderSystem
import Synchronization

extension StoreEngine {
  /// Runs a write for a caller that blocks: in the buffer if possible, at once if no other thread writes, or in the queue.
  func commit<Result: Sendable>(_ write: SharedWrite<Result>) throws -> Result {
    if !write.isTried, let result = try write.append?(self) { return result }
    // A transaction of this write would stop the appends of other processes again, which then would need transactions, too.
    // If a thread of this process writes, the queue appends this write as soon as possible.
    if write.append != nil, !writes.queue.isBusy, reader.buffer?.awaitThaw() == true {
      if let result = try write.append?(self) { return result }
    }
    #if DEBUG
      TaskWarning.check(environment.path)
    #endif
    if environment.isWriting || !environment.isOpen || !writes.queue.isBusy {
      writes.queue.beginDirectWrite()
      defer { writes.queue.endDirectWrite() }
      return try commitRethrowing(write.mode, write.body)
    }
    let blocked = CallerWrite(write)
    let done = DispatchSemaphore(value: 0)
    blocked.begin { done.signal() }
    guard writes.queue.add([blocked], engine: self) else { throw error(.closed) }
    while done.wait(timeout: .now() + .milliseconds(100)) == .timedOut {
      writes.queue.drain(self) { blocked.isFinished }
    }
    return try blocked.result
  }

  /// Runs a write for a task, in the buffer or a shared commit. A task that is cancelled before gets a `CancellationError`.
  func commit<Result: Sendable>(_ write: SharedWrite<Result>) async throws -> Result {
    // If the store is closed, or was opened before a fork, this call throws the error for that case.
    if !environment.isOpen { return try commitRethrowing(write.mode, write.body) }
    try Task.checkCancellation()
    if !write.isTried, let result = try write.append?(self) { return result }
    let suspended = CallerWrite(write)
    await withTaskCancellationHandler {
      await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
        suspended.begin { continuation.resume() }
        if !writes.queue.add([suspended], engine: self) { suspended.finish(error(.closed)) }
      }
    } onCancel: {
      suspended.cancel()
      writes.queue.withdraw(suspended)
    }
    return try suspended.result
  }

  /// Appends the writes that need no transaction. Then runs the others in their order, if possible in one transaction, and gives
  /// each caller its own outcome. If a member (one of the writes) fails before it has changed anything, the others continue. If a
  /// member fails later, the members before it are committed together, then this member runs alone, and then the rest runs.
  func commit(_ group: [any QueuedWrite]) {
    // A commit of these writes would stop the appends again, so the next writes of other threads would need the next commit.
    if loads.writes.isEmpty { _ = reader.buffer?.awaitThaw() }
    var rest = group.filter { !$0.append(in: self) }
    while rest.count > 1 {
      let mode = CommitMode(needsEmptyBuffer: rest.contains { $0.mode.needsEmptyBuffer })
      do {
        let failures = try commitRethrowing(mode) { batch in try batch.run(rest) }
        for (index, member) in rest.enumerated() { member.finish(failures[index]) }
        return
      } catch RolledBack.memberFailed(let index) {
        commit(Array(rest[..<index]))
        commitAlone(rest[index])
        rest.removeSubrange(...index)
      } catch RolledBack.memberCancelled {
        rest = rest.filter { member in
          guard member.isCancelled else { return true }
          member.finish(CancellationError())
          return false
        }
        // Under a high load a member may be cancelled during each run. So the next runs are shorter, and some of them commit.
        let half = rest.count / 2
        commit(Array(rest[..<half]))
        rest.removeFirst(half)
      } catch let error as LarderError where [.busy, .closed, .forked].contains(error.code) {
        // Each member would get the same error again, perhaps after an equally long wait, so all members get this error now.
        for member in rest { member.finish(error) }
        return
      } catch {
        // The group needed too much room or failed in another way. A member may succeed alone, so each member runs alone.
        break
      }
    }
    for member in rest { commitAlone(member) }
  }

  private func commitAlone(_ member: any QueuedWrite) {
    do {
      try commitRethrowing(member.mode) { batch in
        try member.checkCancellation()
        try member.run(in: &batch)
        try member.checkCancellation()
      }
      member.finish(nil)
    } catch { member.finish((error as? LMDBError).map(self.error) ?? error) }
  }
}

extension WriteBatch {
  /// Runs the members. Returns the errors of the members that failed before they changed anything.
  fileprivate mutating func run(_ members: [any QueuedWrite]) throws -> [Int: any Error] {
    var failures: [Int: any Error] = [:]
    for (index, member) in members.enumerated() {
      let before = session.mutations
      do {
        try member.checkCancellation()
        try member.run(in: &self)
      } catch {
        if session.transaction.failure != nil || session.mutations != before {
          throw RolledBack.memberFailed(index: index)
        }
        failures[index] = error
      }
    }
    for (index, member) in members.enumerated() where failures[index] == nil {
      if member.isCancelled { throw RolledBack.memberCancelled }
    }
    return failures
  }
}

#if DEBUG
  /// Tells the developer once that a synchronous write in a task waits for the disk, and blocks one of the few threads of tasks.
  enum TaskWarning {
    static let isSaid = Atomic(false)
    /// Receives the warning. Tests replace this function.
    static let report = Mutex<@Sendable (String) -> Void> { warn($0) }

    static func check(_ path: String) {
      guard !isSaid.load(ordering: .relaxed), isInTask,
        isSaid.compareExchange(expected: false, desired: true, ordering: .relaxed).exchanged
      else { return }
      report.withLock { $0 }(
        "Larder: a task writes to \(path) synchronously and blocks a thread that other tasks need. "
          + "In async functions `try await` writes without blocking. This is said once.")
    }
  }
#endif
