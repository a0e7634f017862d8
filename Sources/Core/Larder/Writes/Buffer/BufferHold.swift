import LMDB
import LarderSystem

/// The hold of a transaction on the write buffer. First the transaction stores most records while processes still append. Then,
/// until the transaction has ended, no process appends, so the commit of the transaction stores all records.
struct BufferHold {
  private let buffer: WriteBuffer?
  private var isHeld = false
  /// The records that the transaction commits; nil if LMDB already has the records.
  private var state: BufferState?
  private var drained = DrainedRecords()
  private var terms = BufferTerms()
  private let lost: LostRecords

  init(_ buffer: WriteBuffer?, without lost: LostRecords) {
    self.buffer = buffer
    self.lost = lost
  }

  /// Stores the records before the batch makes its own changes, and stops appends to the buffer. `commit` is the number of the
  /// last commit before the transaction. Returns the number of stored records.
  mutating func begin(
    _ batch: inout WriteBatch, on commit: UInt64, lockTimeout: Duration
  ) throws -> Int {
    guard let buffer else { return 0 }
    (isHeld, drained) = (false, DrainedRecords())
    // Each pass stores the records that were appended during the previous pass. So when appends stop, usually only a few
    // records are left. Many are left only if other threads append as fast as this thread stores.
    var passes = 0
    while passes < 4, case let state = buffer.state, !state.isFrozen,
      buffer.base(of: state) == commit, state.end - drained.end >= buffer.leastAhead
    {
      try batch.drain(buffer, to: state, &drained, without: lost)
      passes += 1
      KillPoint.pass(14)
      buffer.noteDrainedAhead()
    }
    state = try buffer.freeze(on: commit, lockTimeout: lockTimeout)
    isHeld = true
    if passes > 0 { batch.session.renewTime() }
    if let state { try batch.drain(buffer, to: state, &drained, without: lost) }
    return drained.count
  }

  var hasRecords: Bool { state.map { $0.end > 0 } ?? false }

  /// If there were single writes after the last commit, evicts entries to make room for the next records. The batch has not
  /// written any entry of its own yet, so this call evicts no such entry.
  func evictAhead(_ batch: inout WriteBatch) throws(LarderError) {
    guard let buffer, buffer.appends else { return }
    let crowded = buffer.takeCrowded()
    if crowded != nil || hasRecords { try batch.session.evictAhead(also: crowded) }
  }

  mutating func note(_ batch: borrowing WriteBatch) {
    if isHeld { terms = batch.session.bufferTerms }
    KillPoint.pass(8)
  }

  /// Ends the hold after the transaction, before another transaction begins. If `keepsFrozen` is set, no process can append
  /// until the next transaction has ended.
  func end(newest: UInt64, in environment: Environment, keepsFrozen: Bool) {
    guard let buffer else { return }
    if !isHeld { return buffer.refuse(lockTimeout: environment.lockTimeout) }
    let count = state.map { lost.count(in: buffer, $0) } ?? 0
    if buffer.thaw(newest: newest, in: environment, terms, keepsFrozen: keepsFrozen) {
      buffer.countLost(count)
    }
  }
}

/// Records of a generation (all records between two commits) that no commit can store, because a page of the data is damaged.
struct LostRecords {
  /// If more records than this are lost, the whole generation counts as lost: each lost record needs another try to commit.
  private static let most = 64

  private var generation: UInt64 = 0
  private var offsets: Set<Int> = []

  mutating func insert(_ offset: Int, of generation: UInt64) {
    if self.generation != generation { offsets = [] }
    self.generation = generation
    offsets.insert(offset)
  }

  func remaining(_ places: [BufferPlace], of state: BufferState) -> [BufferPlace] {
    if generation != state.generation { return places }
    return offsets.count > Self.most ? [] : places.filter { !offsets.contains($0.offset) }
  }

  func count(in buffer: WriteBuffer, _ state: BufferState) -> Int {
    if generation != state.generation { return 0 }
    return offsets.count > Self.most
      ? BufferContents(of: buffer, to: state).places.count : offsets.count
  }
}
