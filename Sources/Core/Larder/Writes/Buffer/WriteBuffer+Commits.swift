import LMDB
import LarderSystem
import Synchronization

struct BufferTerms {
  var metadata: UInt64 = 0
  var room = BufferRoom(Limits(entries: 0, bytes: 0), used: Usage(entries: 0, bytes: 0))
  /// For each namespace, the version of its next value and its room.
  var namespaces: [NamespaceID: (next: UInt64, room: BufferRoom)] = [:]
  var pages = 0
  var isWatched = true
  /// Whether some entries have owners. If so, the removal of an owner removes other entries, too.
  var hasDependents = true
}

extension WriteBuffer {
  /// Makes the other log active if the active log has records. Returns the older log, whose records the caller then commits
  /// while processes append. Nil if the caller must freeze the buffer, for example because a failed transaction has left an
  /// older log. The caller holds `lock.write`, and `commit` is the last commit.
  func turn(on commit: UInt64, lockTimeout: Duration) throws(LMDBError) -> BufferLog? {
    if hasRecords { checkPlace() }
    return try lock(waitingAtMost: lockTimeout) { view, state in
      if state.isFrozen { return nil }
      var state = state
      // A killed process has committed the older log. This transaction begins on that commit, so readers see the commit, too.
      if state.hasOlder, commit == base(of: state) &+ 1 {
        state = merge(state, on: commit, nil, view)
      }
      guard base(of: state) == commit, !state.hasOlder, state.end > 0 else { return nil }
      return olderLog(of: turn(state, view))
    }
  }

  private func lock<Result>(
    waitingAtMost timeout: Duration, _ body: (borrowing SharedTable.View, BufferState) -> Result
  ) throws(LMDBError) -> Result {
    let table = table
    let result = lock?.withLock(table.view, waitingAtMost: timeout) { view in
      index(view)
      return body(view, state(in: view))
    }
    guard let result else { throw table.view.isWritable ? .bufferBusy : .closed }
    return result
  }

  /// The new state is stored last. So if the process is killed earlier, the old state is valid and does not use the other words.
  private func turn(_ state: BufferState, _ view: borrowing SharedTable.View) -> BufferState {
    let turned = state.turned
    view.store(UInt64(state.end), wide: BufferLayout.Place.olderEnd)
    resetCharge(view)
    forEachNamespace(view) { $0.charge = BufferCharge() }
    emptyTable(for: turned, view)
    KillPoint.pass(16)
    view.store(0, wide: BufferLayout.Place.tail)
    KillPoint.pass(17)
    view.release(turned.word, to: BufferLayout.Place.state)
    KillPoint.pass(18)
    return turned
  }

  private func resetCharge(_ view: borrowing SharedTable.View) {
    BufferCharge().save(at: BufferLayout.Place.charge, view)
    view.store(0, wide: BufferLayout.Place.chargedPages)
  }

  private func emptyTable(for state: BufferState, _ view: borrowing SharedTable.View) {
    guard state.needsEmptyTable else { return }
    let table = layout.table(of: state.generation)
    // Keeps the places of the older log, which used this table last: until the state is stored, readers may look for its records.
    let older = state.generation &- 2
    for place in table..<table + layout.slots
    where !BufferSlot(word: view.wide(place)).isOf(older) { view.store(0, wide: place) }
  }

  /// Stops the appends of all processes until the transaction has ended. The caller holds `lock.write`, and `commit` is the last
  /// commit. Returns the logs that `commit` does not contain.
  func freeze(on commit: UInt64, lockTimeout: Duration) throws(LMDBError) -> [BufferLog] {
    let logs = try lock(waitingAtMost: lockTimeout) { view, state in
      view.release(state.frozen.word, to: BufferLayout.Place.state)
      return self.logs(of: state.frozen, after: commit)
    }
    KillPoint.pass(7)
    return logs
  }

  /// Waits at most ``appendTimeout`` for the end of a freeze. Returns whether the buffer was frozen and no longer is.
  func awaitThaw() -> Bool {
    guard appends, state.isFrozen else { return false }
    let deadline = SuspendingClock.now + Self.appendTimeout
    while state.isFrozen, SuspendingClock.now < deadline { backOff() }
    return !state.isFrozen
  }

  /// Ends a transaction before another transaction begins. Returns true if the commit `newest` has taken over records. If
  /// `keepsFrozen` is set, appends continue only after the next transaction.
  func end(
    newest: UInt64, in environment: Environment, _ terms: BufferTerms, keepsFrozen: Bool,
    _ isUnchanged: Bool
  ) -> Bool {
    let table = table
    let view = table.view
    guard view.isWritable else { return false }
    let state = BufferState(in: view)
    if newest == base(of: state) || !(state.isFrozen || state.hasOlder) {
      // If the transaction has failed, the records stay for the next commit, and appends stop until then: the disk may be full.
      if !isUnchanged {
        // The transaction may have failed because the lock is taken, so this call does not wait long again.
        let timeout = min(environment.lockTimeout, .milliseconds(100))
        _ = lock?.withLock(view, waitingAtMost: timeout) { view in
          view.store(0, wide: BufferLayout.Place.pages)
        }
      }
      if state.isFrozen { view.release(state.thawed.word, to: BufferLayout.Place.state) }
      return false
    }
    // LMDB may show a killed process's commit only after the next commit. Until then readers need the records in the buffer.
    guard environment.newestVisible >= newest else { return false }
    if state.hasRecords { commits.add(1, ordering: .relaxed) }
    isSuspended.store(false, ordering: .relaxed)
    if state.isFrozen {
      begin(keepsFrozen ? state.next.frozen : state.next, on: newest, terms, view)
    } else {
      // If the lock cannot be taken, the next transaction marks the log as committed.
      _ = lock?.withLock(view, waitingAtMost: environment.lockTimeout) { view in
        index(view)
        _ = merge(BufferState(in: view), on: newest, terms, view)
      }
    }
    return true
  }

  /// Marks the older log as committed. Without `terms` the counted room stays, perhaps too small. The caller owns the lock.
  private func merge(
    _ state: BufferState, on commit: UInt64, _ terms: BufferTerms?,
    _ view: borrowing SharedTable.View
  ) -> BufferState {
    if let terms {
      forEachNamespace(view) { slot in
        guard let known = terms.namespaces[slot.id] else { return }
        slot.next = max(slot.next, known.next)
        slot.room = known.room.less(slot.charge)
      }
      save(
        terms, less: BufferCharge(at: BufferLayout.Place.charge, view),
        pages: Int(clamping: view.wide(BufferLayout.Place.chargedPages)), view)
    }
    KillPoint.pass(19)
    view.release(commit, to: BufferLayout.Place.base + state.merged.base)
    KillPoint.pass(20)
    view.release(state.merged.word, to: BufferLayout.Place.state)
    KillPoint.pass(21)
    return state.merged
  }

  private func save(
    _ terms: BufferTerms, less charge: BufferCharge, pages: Int, _ view: borrowing SharedTable.View
  ) {
    view.store(terms.metadata, wide: BufferLayout.Place.metadata)
    terms.room.less(charge).save(at: BufferLayout.Place.room, view)
    view.store(UInt64(max(0, terms.pages - pages)), wide: BufferLayout.Place.pages)
    view.store(terms.isWatched ? 1 : 0, wide: BufferLayout.Place.watched)
    view.store(terms.hasDependents ? 1 : 0, wide: BufferLayout.Place.dependents)
  }

  /// Begins a generation after a commit of all records. After a kill during this call, the next transaction repeats the call.
  private func begin(
    _ state: BufferState, on commit: UInt64, _ terms: BufferTerms,
    _ view: borrowing SharedTable.View
  ) {
    KillPoint.pass(9)
    for index in 0..<BufferLayout.namespaceCount {
      view.store(0, wide: BufferLayout.namespace(index))
    }
    emptyTable(for: state, view)
    KillPoint.pass(10)
    view.store(0, wide: BufferLayout.Place.tail)
    KillPoint.pass(11)
    save(terms, less: BufferCharge(), pages: 0, view)
    resetCharge(view)
    // The logs may have had records of other data. The records of the new generation belong to the data of this process.
    Self.save(origin, view)
    view.release(commit, to: BufferLayout.Place.base + state.base)
    KillPoint.pass(12)
    view.release(state.word, to: BufferLayout.Place.state)
    KillPoint.pass(13)
  }
}
