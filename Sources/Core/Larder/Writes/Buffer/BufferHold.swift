import LMDB
import LarderSystem

/// The hold of a transaction on the write buffer. First the transaction stores most records while processes still append. Then,
/// until the transaction has ended, no process appends, so the commit of the transaction stores all records.
struct BufferHold {
  private let buffer: WriteBuffer?
  private var isHeld = false
  /// The records that the transaction commits; nil if LMDB already has the records.
  private var state: BufferState?
  /// The end of the records that the transaction has stored, and their number.
  private var drainedEnd = 0
  private var drainedCount = 0
  /// For each namespace, the version of the first value from these records. All later versions are from these records, too.
  private var firstVersions: [NamespaceID: UInt64] = [:]
  private var terms = BufferTerms()
  private let lost: LostRecords

  init(_ buffer: WriteBuffer?, without lost: LostRecords) {
    self.buffer = buffer
    self.lost = lost
  }

  /// Stores the records before the batch makes its own changes, and stops appends to the buffer. `commit` is the number of the
  /// last commit before the transaction. Returns the number of stored records.
  mutating func begin(_ session: inout WriteSession, on commit: UInt64) throws -> Int {
    guard let buffer else { return 0 }
    (isHeld, drainedEnd, drainedCount, firstVersions) = (false, 0, 0, [:])
    // Each pass stores the records that were appended during the previous pass. So when appends stop, usually only a few
    // records are left. Many records are left only if other threads append as fast as this thread stores.
    var passes = 0
    while passes < 4, case let state = buffer.state, !state.isFrozen,
      buffer.base(of: state) == commit, state.end - drainedEnd >= buffer.leastAhead
    {
      try drain(buffer, to: state, &session)
      passes += 1
      KillPoint.pass(14)
      buffer.noteDrainedAhead()
    }
    state = try buffer.freeze(on: commit, lockTimeout: session.engine.environment.lockTimeout)
    isHeld = true
    if passes > 0 { session.renewTime() }
    if let state { try drain(buffer, to: state, &session) }
    return drainedCount
  }

  /// Stores records of the write buffer before the batch makes its own changes. Throws ``RolledBack`` if damage prevents
  /// storing a record, because a part of this record may already be stored.
  private mutating func drain(
    _ buffer: WriteBuffer, to state: BufferState, _ session: inout WriteSession
  ) throws {
    if state.end <= drainedEnd { return }
    // If all records are damaged, the batch changes nothing. This generation ends only with a commit, so the batch must commit.
    session.forceCommit()
    let contents = BufferContents(of: buffer, from: drainedEnd, to: state)
    for id in contents.namespaces.keys where firstVersions[id] == nil {
      if try session.isLive(id) { firstVersions[id] = try session.counters(of: id).next }
    }
    let places = lost.remaining(contents.places, of: state)
    let bytes = contents.bytes.span
    session.deadlines.keepsAll = true
    defer { session.deadlines.keepsAll = false }
    for place in places {
      do throws(LarderError) {
        try session.store(
          place, bytes.extracting(place.entry), for: bytes.extracting(place.key),
          onVersionsFrom: firstVersions[place.record.id])
      } catch {
        guard error.code == .damaged else { throw error }
        throw RolledBack.recordUnstorable(offset: place.offset, generation: state.generation)
      }
    }
    for (id, namespace) in contents.namespaces where try session.isLive(id) {
      try session.update(id) { counters in
        counters.next = max(counters.next, namespace.next)
        counters.removals = counters.removals + namespace.removals
      }
    }
    if contents.isDamaged { try session.skipVersions(of: buffer) }
    for time in contents.times {
      session.recordWrite(
        at: min(max(Timestamp(milliseconds: time), Timestamp(milliseconds: 0)), session.now))
    }
    drainedEnd = state.end
    drainedCount += places.count
  }

  var hasRecords: Bool { state.map { $0.end > 0 } ?? false }

  /// If there were single writes after the last commit, evicts entries to make room for the next records. The batch has not
  /// written any entry of its own yet, so this call evicts no such entry.
  func evictAhead(_ session: inout WriteSession) throws(LarderError) {
    guard let buffer, buffer.appends else { return }
    let crowded = buffer.takeCrowded()
    if crowded != nil || hasRecords { try session.evictAhead(also: crowded) }
  }

  mutating func note(_ session: borrowing WriteSession) {
    if isHeld { terms = session.bufferTerms }
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
