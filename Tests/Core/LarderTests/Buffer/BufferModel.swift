import TestSupport
import Testing

@Suite struct BufferModelTests {
  /// The number of states that the model can reach from `start`. Nil if a read finds a wrong value.
  private func walk(_ start: BufferModel, _ fault: BufferModel.Fault? = nil) -> Int? {
    var known: Set<BufferModel> = [start]
    var waiting = [start]
    while let model = waiting.popLast() {
      guard let next = model.successors(fault) else { return nil }
      for model in next where known.insert(model).inserted { waiting.append(model) }
    }
    return known.count
  }

  @Test func `no order of the steps shows a lost, an old or an unwritten value`() throws {
    // The model has 67,420 states with one commit and 552,070 with two commits. So only long runs use two commits.
    let commits: UInt8 = TestSettings.trials > 1 ? 2 : 1
    let states = try #require(walk(BufferModel(appends: 2, commits: commits, reads: 2)))
    print("model: \(states) states")
    #expect(states > 60_000)
  }

  @Test(arguments: BufferModel.Fault.allCases)
  func `the walk finds each fault of the protocol`(fault: BufferModel.Fault) {
    #expect(walk(BufferModel(appends: 2, commits: 1, reads: 2), fault) == nil)
  }
}

/// A model of the write buffer for one key. A writer, transactions and a reader take single steps in any order, and at most one
/// process is killed. `Docs/Internals/WriteBuffer.md` describes the steps. The values are the numbers of the writes.
struct BufferModel: Hashable {
  /// A deliberate fault of the protocol. A walk through all orders of the steps must find the fault.
  enum Fault: CaseIterable {
    case readerDoesNotLookAgain, frozenRecordsCount, killedAppendStaysHidden
    case commitsTwice, tailStays
  }

  /// The word of the buffer file that says which records are valid.
  struct Word: Hashable {
    var generation: UInt8 = 1
    var base: UInt8 = 0
    var isFrozen = false
    var end: UInt8 = 0

    func isSameEpoch(_ other: Word) -> Bool {
      generation == other.generation && base == other.base && isFrozen == other.isFrozen
    }
  }

  enum Owner: Hashable { case nobody, writer, transaction, dead }

  struct Pair: Hashable {
    var first: UInt8
    var second: UInt8

    subscript(index: UInt8) -> UInt8 {
      get { index == 0 ? first : second }
      set { if index == 0 { first = newValue } else { second = newValue } }
    }
  }

  struct Writer: Hashable {
    var step: UInt8 = 0
    var found = Word()
    var snapshot: UInt8 = 0
  }

  struct Transaction: Hashable {
    var step: UInt8 = 0
    var began: UInt8 = 0
    var hasRecords = false
  }

  struct Reader: Hashable {
    var step: UInt8 = 0
    var found = Word()
    var commit: UInt8 = 0
    var value: UInt8 = 0
    var offset: UInt8?
    /// The oldest value that this read may return: the newest value that was answered or read before this read began.
    var least: UInt8 = 0
  }

  static let logSize: UInt8 = 2

  // The words of the buffer file, and the committed data.
  var state = Word()
  var tail: UInt8 = 0
  var base = Pair(first: 1, second: 1)
  var log = Pair(first: 0, second: 0)
  var slot = Pair(first: 0, second: 0)
  var lock = Owner.nobody
  var commit: UInt8 = 1
  var data: UInt8 = 0

  var next: UInt8 = 1
  var answered: UInt8 = 0
  var writer = Writer()
  var transaction = Transaction()
  var reader = Reader()

  // The numbers of steps of each kind that may still happen.
  var appends: UInt8
  var commits: UInt8
  var reads: UInt8
  var kills: UInt8 = 1

  init(appends: UInt8, commits: UInt8, reads: UInt8) {
    self.appends = appends
    self.commits = commits
    self.reads = reads
  }
}

// MARK: - Steps

extension BufferModel {
  /// The states after each possible step. Nil if a read has found a wrong value.
  func successors(_ fault: Fault?) -> [BufferModel]? {
    var next: [BufferModel] = []
    if let model = writing(fault) { next.append(model) }
    next += committing(fault)
    var model = self
    switch model.read(fault) {
    case true?: next.append(model)
    case false?: return nil
    case nil: break
    }
    if kills > 0 {
      if writer.step > 0 {
        next.append(killed(.writer) { $0.writer = Writer() })
      }
      if transaction.step > 0 {
        next.append(killed(.transaction) { $0.transaction = Transaction() })
      }
    }
    return next
  }

  private func killed(_ owner: Owner, _ restart: (inout BufferModel) -> Void) -> BufferModel {
    var model = self
    restart(&model)
    model.kills -= 1
    if lock == owner { model.lock = .dead }
    return model
  }

  private func writing(_ fault: Fault?) -> BufferModel? {
    var model = self
    switch writer.step {
    case 0:
      // An open transaction freezes the records, so the writer waits until the transaction ends.
      if appends == 0 || state.isFrozen { return nil }
      model.writer.found = state
      model.writer.snapshot = commit
    case 1:
      guard model.take(.writer) else { return nil }
      model.index(fault)
    case 2:
      guard !state.isFrozen, state.end < Self.logSize, state.isSameEpoch(writer.found),
        base[state.base] == writer.snapshot
      else {
        model.lock = .nobody
        model.writer = Writer()
        return model
      }
      model.log[state.end] = next
      model.next += 1
      model.appends -= 1
    case 3: model.tail = state.end + 1
    case 4: model.slot = Pair(first: state.generation, second: state.end)
    case 5: model.state.end = tail
    default:
      model.lock = .nobody
      model.answered = log[state.end - 1]
      model.writer = Writer()
      return model
    }
    model.writer.step += 1
    return model
  }

  private func committing(_ fault: Fault?) -> [BufferModel] {
    var model = self
    switch transaction.step {
    case 0:
      guard commits > 0 || state.isFrozen else { return [] }
      model.commits = max(commits, 1) - 1
      model.transaction.began = commit
    case 1:
      guard model.take(.transaction) else { return [] }
      model.index(fault)
    case 2:
      model.state.isFrozen = true
      model.transaction.hasRecords =
        base[state.base] == transaction.began || fault == .commitsTwice
      model.lock = .nobody
    case 3:
      // Three cases: a rollback, a commit of the records, or a commit of the records and of the transaction's own value.
      model.transaction.step += 1
      var committed = model
      committed.commit += 1
      if transaction.hasRecords, state.end > 0 { committed.data = log[state.end - 1] }
      var written = committed
      written.data = next
      written.next += 1
      return [model, committed, written]
    case 4:
      model.answered = max(answered, data)
      if commit == base[state.base] {
        model.state.isFrozen = false
        model.transaction = Transaction()
        return [model]
      }
      if fault != .tailStays { model.tail = 0 }
    case 5: model.base[1 - state.base] = commit
    default:
      model.state = Word(generation: state.generation + 1, base: 1 - state.base)
      model.transaction = Transaction()
      return [model]
    }
    model.transaction.step += 1
    return [model]
  }

  /// Takes the lock if the lock is free or has a dead owner.
  private mutating func take(_ owner: Owner) -> Bool {
    guard lock == .nobody || lock == .dead else { return false }
    lock = owner
    return true
  }

  private mutating func index(_ fault: Fault?) {
    guard tail > state.end, !state.isFrozen, fault != .killedAppendStaysHidden else { return }
    slot = Pair(first: state.generation, second: state.end)
    state.end = tail
  }

  /// Makes one step of a read. Returns false if the read has found a wrong value, else true. Nil if no step is possible.
  private mutating func read(_ fault: Fault?) -> Bool? {
    switch reader.step {
    case 0:
      guard reads > 0 else { return nil }
      reader.least = max(reader.least, answered)
      reader.found = state
    case 1: (reader.commit, reader.value) = (commit, data)
    case 2:
      let isContained =
        reader.found.isFrozen && reader.commit > base[reader.found.base]
        && fault != .frozenRecordsCount
      let isBuffered = reader.found.end > 0 && !isContained && slot.first == reader.found.generation
      reader.offset = isBuffered ? slot.second : nil
    case 3:
      if let offset = reader.offset { reader.value = log[offset] }
    default:
      let isStill = state.isSameEpoch(reader.found) || fault == .readerDoesNotLookAgain
      if reader.found.end > 0, !isStill {
        reader = Reader(least: reader.least)
        return true
      }
      guard reader.value >= reader.least, reader.value < next else { return false }
      reader = Reader(least: reader.value)
      reads -= 1
      return true
    }
    reader.step += 1
    return true
  }
}
