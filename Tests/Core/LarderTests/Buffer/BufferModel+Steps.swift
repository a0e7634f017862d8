@testable import Larder

extension BufferModel {
  /// The states after each possible step. Nil if a lookup finds a wrong value.
  func successors(_ fault: Fault?) -> [BufferModel]? {
    guard var next = writing(fault) else { return nil }
    next += committing(fault)
    for process in [Process.writer, .transaction] where kills > 0 && stopped(process) != self {
      next.append(stopped(process))
      next[next.count - 1].kills -= 1
    }
    // A process keeps the found value in memory, and returns the value without a lookup until the moment is later.
    let (kept, moment) = (fastLookup(fault), UInt64(published) + state.stamp)
    for index in next.indices {
      let found = next[index].fastLookup(fault)
      guard found >= next[index].shown, found < next[index].next,
        found == kept || next[index].newestMoment(fault) > moment
      else { return nil }
      next[index].shown = found
    }
    var model = self
    if reader.step == .state { model.least = shown }
    model.look(&model.reader, fault)
    if model.reader.step != .done { return next + [model] }
    // A second lookup of the slow reader would test nothing new, because the fast readers have found this value, too.
    return model.reader.value >= least && model.reader.value <= shown ? next : nil
  }

  /// The state after a process has ended its work or was killed. The lock of a killed process is free for other processes.
  private func stopped(_ process: Process) -> BufferModel {
    var model = self
    if process == .writer { model.writer = Writer() } else { model.transaction = Transaction() }
    if lock == process { model.lock = nil }
    return model
  }

  /// The place of a record in the two logs, which have two words each.
  private func place(_ offset: Int, _ log: UInt64) -> Int { offset + 2 * Int(log & 1) }

  /// The place of the newest record in a generation.
  private func find(_ generation: UInt64) -> Int? {
    let slot = slots[Int(generation & 1)]
    return slot / 16 == generation ? place(Int(slot % 16), generation) : nil
  }

  /// The value of the last record in a log; 0 if the log has no record.
  private func last(before end: Int, of generation: UInt64) -> UInt8 {
    end == 0 ? 0 : values[place(end - 1, generation)]
  }

  private mutating func storeSlot() {
    slots[Int(state.generation & 1)] = UInt8(16 * state.generation) + UInt8(state.end)
  }

  /// Makes the record of a killed writer visible.
  private mutating func index(_ fault: Fault?) {
    guard Int(tail) > state.end, !state.isFrozen, fault != .killedAppendStaysHidden,
      seals[place(state.end, state.generation)] == state.generation
    else { return }
    storeSlot()
    state = state.extended(to: state.end + 1)
  }

  /// The moment with which a process compares the moment of a value in memory; see `EntryReader.moment`.
  private func newestMoment(_ fault: Fault?) -> UInt64 {
    let hidden = state.hasRecords && fault != .memoryAfterTheState ? Int(tail) - state.end : 0
    return UInt64(commit) + state.stamp + UInt64(max(hidden, 0))
  }

  /// The value that a lookup finds if no process takes a step meanwhile.
  private func fastLookup(_ fault: Fault?) -> UInt8 {
    var lookup = Lookup()
    while lookup.step != .done { look(&lookup, fault) }
    return lookup.value
  }

  private func look(_ lookup: inout Lookup, _ fault: Fault?) {
    let found = lookup.state
    switch lookup.step {
    case .state: (lookup.state, lookup.step) = (state, .snapshot)
    case .snapshot:
      (lookup.snapshot, lookup.value) = (published, publishedData)
      lookup.step = found.hasRecords ? .find : .done
    case .find:
      let isNewer = lookup.snapshot > bases[found.base]
      let isContained = isNewer && found.isFrozen && fault != .frozenRecordsCount
      let asksOlder = found.hasOlder && (!isNewer || fault == .olderRecordsCountAfterCommit)
      let active = isContained ? nil : find(found.generation)
      let older = asksOlder ? find(found.olderGeneration) : nil
      let place = fault == .readerAsksOlderFirst ? older ?? active : active ?? older
      (lookup.place, lookup.step) = (UInt8(place ?? 0), place == nil ? .check : .copy)
    case .copy: (lookup.value, lookup.step) = (values[Int(lookup.place)], .check)
    case .check:
      let isStill = state.epoch == found.epoch || fault == .readerDoesNotLookAgain
      if isStill { lookup.step = .done } else { lookup = Lookup() }
    case .done: break
    }
  }

  /// The next step of the writer. Nil if a lookup finds a wrong value.
  private func writing(_ fault: Fault?) -> [BufferModel]? {
    var model = self
    switch writer.step {
    case .state:
      if appends == 0 || state.isFrozen { return [] }
      model.writer.state = state
    case .lookup:
      // If another process takes a step during this lookup, the checks under the lock notice that step.
      if let place = find(writer.state.generation) {
        (model.writer.snapshot, model.writer.value) = (bases[writer.state.base], values[place])
      } else {
        (model.writer.snapshot, model.writer.value) = (published, fastLookup(fault))
      }
    case .lock:
      if lock != nil { return [] }
      model.index(fault)
      let (now, base) = (model.state, bases[model.state.base])
      let isSame =
        now.epoch == writer.state.epoch
        && (writer.snapshot == base || now.hasOlder && writer.snapshot == base + 1)
      // All records have the same key. So if there is a new record, the found value is old.
      guard !now.isFrozen, now.end < 2, isSame || fault == .writerDoesNotLookAgain,
        now.end == writer.state.end || fault == .killedAppendIsReplaced
      else { return [model.stopped(.writer)] }
      // The found value must be the newest value. Only the commit of the older log may have evicted this value meanwhile.
      guard writer.value / 2 == model.fastLookup(fault) / 2 else { return nil }
      model.lock = .writer
      model.appends -= 1
      // The record is partly written.
      let place = model.place(now.end, now.generation)
      (model.seals[place], model.values[place]) = (UInt8(now.generation), .max)
      model.writer = Writer(step: .lock)
    case .record:
      model.values[place(state.end, state.generation)] = next
      model.next += 2
    case .tail: model.tail = UInt8(state.end + 1)
    case .slot: model.storeSlot()
    case .end:
      model.state = state.extended(to: state.end + 1)
      model.shown = max(shown, last(before: model.state.end, of: state.generation))
      return [model.stopped(.writer)]
    }
    model.writer.step = Writer.Step(rawValue: writer.step.rawValue + 1)!
    return [model]
  }

  /// The next steps of a transaction.
  private func committing(_ fault: Fault?) -> [BufferModel] {
    var model = self
    switch transaction.step {
    case .begin:
      guard commits > 0 || state.isFrozen || state.hasOlder, lock == nil else { return [] }
      // A process was killed before it published its commit. LMDB notices the commit when the next transaction begins.
      (model.published, model.publishedData) = (commit, data)
      if published < commit { return [model] }
      model.commits = max(commits, 1) - 1
      model.index(fault)
      return model.turning(fault)
    case .turnTail:
      model.olderEnd = UInt8(state.end)
      if fault != .tailStaysInTurn { model.tail = 0 }
    case .turnState:
      model.state = state.turned
      return model.turning(fault)
    case .freeze:
      if lock != nil { return [] }
      model.index(fault)
      model.state = model.state.frozen
      if commit == bases[state.base] || fault == .commitsTwice {
        let older = state.hasOlder ? last(before: Int(olderEnd), of: state.olderGeneration) : 0
        let active = last(before: model.state.end, of: state.generation)
        model.transaction.stored = max(older, active)
      }
    case .commit:
      // The outcomes: a rollback, or a commit of the records alone, with an eviction, or with a write of the transaction.
      model.transaction = Transaction(step: .publish)
      model.commit += 1
      if transaction.stored > 0 { model.data = transaction.stored }
      var (rolledBack, evicted, written) = (self, model, model)
      rolledBack.transaction = Transaction(step: .end)
      if model.data > 0 { evicted.data |= 1 }
      (written.data, written.next) = (next, next + 2)
      return [rolledBack, model, evicted] + (state.isFrozen ? [written] : [])
    case .publish:
      (model.published, model.publishedData) = (commit, data)
      model.shown = max(shown, data)
    case .end:
      if commit == bases[state.base] {
        if state.isFrozen { model.state = state.thawed }
        return [model.stopped(.transaction)]
      }
      // If the transaction gets no snapshot or no lock, the next transaction makes the steps that follow.
      let late = commits > 0 ? [stopped(.transaction)] : []
      model.transaction = Transaction(step: .nextTail)
      if state.isFrozen { return [model] + late }
      if lock != nil { return late }
      model.index(fault)
      model.lock = .transaction
      model.transaction = Transaction(step: .mergeBase, isEnding: true)
      return [model] + late
    case .mergeBase, .nextBase: model.bases[state.next.base] = commit
    case .mergeState:
      model.state = state.merged
      return transaction.isEnding ? [model.stopped(.transaction)] : model.turning(fault)
    case .nextTail:
      if fault != .tailStays { model.tail = 0 }
      if fault == .emptiesOlderTable { model.slots[Int(state.next.generation & 1)] = 0 }
    case .nextState:
      // If the process makes another transaction, the buffer stays frozen.
      return (commits > 0 ? [state.next, state.next.frozen] : [state.next]).map {
        model.state = $0
        return model.stopped(.transaction)
      }
    }
    model.transaction.step = Transaction.Step(rawValue: transaction.step.rawValue + 1)!
    return [model]
  }

  /// The next steps of a transaction that has the lock and has not frozen the buffer.
  private func turning(_ fault: Fault?) -> [BufferModel] {
    var (model, freezing) = (self, stopped(.transaction))
    model.lock = .transaction
    freezing.transaction.step = .freeze
    if state.isFrozen { return [freezing] }
    if state.hasOlder, commit == bases[state.base] + 1, fault != .freezesWithoutMerge {
      // A process was killed after its commit of the older log, so this transaction makes the missing merge.
      model.transaction.step = .mergeBase
      return [model]
    }
    if commit != bases[state.base] { return [freezing] }
    model.transaction.step = .turnTail
    // The number of states must be finite, so the fault happens only in the first generations.
    if state.hasOlder, fault != .turnsOverOlder || state.generation > 3 {
      // If an earlier transaction has turned the logs, this transaction freezes the buffer.
      if transaction.step != .turnState { return [freezing] }
      model.transaction.step = .commit
      model.transaction.stored = last(before: Int(olderEnd), of: state.olderGeneration)
      model.lock = nil
    }
    // The active log may have no records, or only records of other keys. So the transaction may continue or freeze the buffer.
    return [model, freezing]
  }
}
