import LarderSystem
import Synchronization

extension WriteBuffer {
  /// The entry that a write replaces, as a lookup has found it before the write.
  struct Former {
    var state: BufferState
    /// The generation of the metadata from which the writer knows the namespace.
    var metadata: UInt64
    var snapshot: UInt64
    var keyHash: UInt64
    /// The record of the key in the active log.
    var found: Found?
    /// The header of the entry, and the size of its value in bytes; nil if there is no entry.
    var entry: (header: EntryHeader, size: Int)?
    /// The counters of the namespace for the namespace's first record in a generation. Nil if the namespace already has a slot.
    var counters: NamespaceCounters?

    fileprivate func record(_ keyCount: Int, in id: NamespaceID, entryCount: Int) -> BufferRecord {
      BufferRecord(id: id, keyHash: keyHash, keyCount: keyCount, entryCount: entryCount)
    }

    /// The charge of a record that stores a value of `size` bytes, or of a removal if `size` is nil.
    fileprivate func charge(replacedBy size: Int?) -> BufferCharge {
      // A commit of the older log may evict the entry, whose room would then count twice.
      let former = found == nil && state.hasOlder ? nil : entry?.size
      return BufferCharge(
        entries: (size == nil ? 0 : 1) - (former == nil ? 0 : 1),
        bytes: (size ?? 0) - (former ?? 0))
    }
  }

  enum Answer<Result> {
    case done(Result)
    /// Another write happened between the lookup and this change, so the caller must look up the entry again.
    case outdated
    /// Only a transaction can make the change: a limit is near, the buffer is full, or a transaction has stopped the appends.
    case refused
  }

  /// Whether a writer that knows the metadata of the generation `metadata` may append.
  func isOpen(at metadata: UInt64) -> Bool {
    let table = table
    let view = table.view
    return appends && view.isWritable && view.wide(BufferLayout.Place.metadata) == metadata
      && view.wide(BufferLayout.Place.isClosed) == 0
  }

  var isWatched: Bool {
    let table = table
    return table.view.wide(BufferLayout.Place.watched) != 0
  }

  /// Appends an entry; `header` makes a header from a version. Refuses beside a subscription: only a commit publishes changes.
  func append(
    _ value: Span<UInt8>, for key: Span<UInt8>, in namespace: KnownNamespace, over former: Former,
    _ isWatched: () -> Bool, _ header: (UInt64) -> EntryHeader
  ) -> Answer<EntryHeader> {
    change(key, in: namespace, over: former, isWatched) { slot, state, view in
      KillPoint.pass(1)
      guard slot.next < QueuePosition.limit - 1 else { return .refused }
      let header = header(slot.next)
      let form = header.form
      let record = former.record(key.count, in: namespace.id, entryCount: form.size + value.count)
      slot.next += 1
      let charge = former.charge(replacedBy: value.count)
      guard let costs = costs(of: record, charge, slot, state, view) else { return .refused }
      withStackBytes(
        record.entryCount,
        { output in
          header.append(to: &output, form)
          output.append(contentsOf: value)
          EntryHeader.seal(&output, keyHash: record.keyHash)
        }, { record.write(key, $0, at: state.end, of: state.generation, view, layout) })
      append(record, of: key, costs, state, view)
      return .done(header)
    }
  }

  /// Appends the removal of an entry; false if there is no entry. `removals` records the removal anyway: a load may be running.
  func remove(
    _ key: Span<UInt8>, in namespace: KnownNamespace, over former: Former,
    _ isWatched: () -> Bool, _ removals: RemovalTable
  ) -> Answer<Bool> {
    change(key, in: namespace, over: former, isWatched) { slot, state, view in
      // Some entries have owners. Only a transaction can also remove the dependents of this entry, so the append is refused.
      if view.wide(BufferLayout.Place.dependents) != 0 { return .refused }
      let record = former.record(key.count, in: namespace.id, entryCount: 0)
      guard let costs = costs(of: record, former.charge(replacedBy: nil), slot, state, view),
        // No transaction numbers removals now: transactions do so only while no process appends, or if entries have owners.
        let number = removals.begin()
      else { return .refused }
      removals.record(former.keyHash, number)
      if former.entry != nil {
        record.write(key, Span(), at: state.end, of: state.generation, view, layout)
        append(record, of: key, costs, state, view)
      }
      removals.finish(number)
      return .done(former.entry != nil)
    }
  }

  /// Makes a change under the lock, if the former entry is still the newest entry of its key.
  private func change<Result>(
    _ key: Span<UInt8>, in namespace: KnownNamespace, over former: Former, _ isWatched: () -> Bool,
    _ body: (inout BufferedNamespace, BufferState, borrowing SharedTable.View) -> Answer<Result>
  ) -> Answer<Result> {
    let table = table
    let answer = lock?.withLock(table.view, waitingAtMost: Self.appendTimeout) {
      view -> Answer<Result> in
      index(view)
      let state = BufferState(in: view)
      if state.isFrozen || isForeign(state) || !appends
        || view.wide(BufferLayout.Place.isClosed) != 0
        || view.wide(BufferLayout.Place.watched) != 0 && isWatched()
      {
        return .refused
      }
      // The lookup must have seen the base, or the commit of the older log if the state does not show the end of that commit yet.
      let base = base(of: state)
      guard state.epoch == former.state.epoch,
        former.snapshot == base || state.hasOlder && former.snapshot == base &+ 1,
        view.wide(BufferLayout.Place.metadata) == former.metadata,
        state.end == former.state.end
          || find(key, in: namespace.id, keyHash: former.keyHash, of: state.generation)
            == former.found
      else { return .outdated }
      guard let (index, known) = slot(of: namespace.id, view) else { return .refused }
      let made = former.counters.map { BufferedNamespace(namespace, $0, at: index) }
      guard var slot = known ?? made else { return .outdated }
      return body(&slot, state, view)
    }
    return answer ?? .refused
  }

  /// The numbers of the namespace and of the store that an append changes.
  private struct Cost {
    var namespace: BufferedNamespace
    var room: BufferRoom
    var pages: Int
    var charge: BufferCharge
    var chargedPages: Int

    /// Whether the active log has taken three quarters of its room. A log with less than about 16 records needs no own commit.
    var leavesLittleRoom: Bool {
      chargedPages > 100
        && (namespace.charge.exceeds(namespace.room) || charge.exceeds(room)
          || chargedPages / 3 > pages)
    }

    func save(_ view: borrowing SharedTable.View) {
      namespace.save(view)
      room.save(at: BufferLayout.Place.room, view)
      view.store(UInt64(pages), wide: BufferLayout.Place.pages)
      charge.save(at: BufferLayout.Place.charge, view)
      view.store(UInt64(chargedPages), wide: BufferLayout.Place.chargedPages)
    }
  }

  /// `before` has the numbers to save before the record exists: they count only the room that the record takes. `after` has the
  /// final numbers if the record also gives room. Nil if there is too little room.
  @inline(__always)
  private func costs(
    of record: BufferRecord, _ charge: BufferCharge, _ namespace: BufferedNamespace,
    _ state: BufferState, _ view: borrowing SharedTable.View
  ) -> (before: Cost, after: Cost?)? {
    guard let before = cost(of: record, charge.increase, namespace, view),
      record.size <= layout.logSize - state.end
    else { return nil }
    return (before, charge.givesRoom ? cost(of: record, charge, namespace, view) : nil)
  }

  @inline(__always)
  private func cost(
    of record: BufferRecord, _ charge: BufferCharge, _ namespace: BufferedNamespace,
    _ view: borrowing SharedTable.View
  ) -> Cost? {
    let needed = Self.pages(of: record)
    let pages = Int(clamping: view.wide(BufferLayout.Place.pages)) - needed
    guard pages >= 0, let own = namespace.room.taking(charge),
      let room = BufferRoom(at: BufferLayout.Place.room, view).taking(charge)
    else { return nil }
    var cost = Cost(
      namespace: namespace, room: room, pages: pages,
      charge: BufferCharge(at: BufferLayout.Place.charge, view) + charge,
      chargedPages: Int(clamping: view.wide(BufferLayout.Place.chargedPages) &+ UInt64(needed)))
    cost.namespace.room = own
    cost.namespace.charge = namespace.charge + charge
    return cost
  }

  /// The most pages that a commit takes for a record: in three databases a leaf page and a split, and pages for a long value.
  private static func pages(of record: BufferRecord) -> Int { 6 + record.entryCount / 2048 }

  private func append(
    _ record: BufferRecord, of key: Span<UInt8>, _ costs: (before: Cost, after: Cost?),
    _ state: BufferState, _ view: borrowing SharedTable.View
  ) {
    KillPoint.pass(2)
    // A kill after this line loses a version or some room. But no version is used twice, and no room precedes its record.
    costs.before.save(view)
    KillPoint.pass(3)
    // After this store the record counts as written, even if the process is killed.
    view.release(UInt64(state.end + record.size), to: BufferLayout.Place.tail)
    KillPoint.pass(4)
    costs.after?.save(view)
    if (costs.after ?? costs.before).leavesLittleRoom {
      hasLittleRoom.store(true, ordering: .relaxed)
    }
    publish(record, of: key, at: state.end, in: state, view)
    KillPoint.pass(6)
  }
}
