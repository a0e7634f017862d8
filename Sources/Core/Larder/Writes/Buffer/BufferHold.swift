import LMDB
import LarderSystem

/// A transaction's use of the write buffer. First the transaction stores the records of the older log while processes append. A
/// transaction with its own changes then stores the other records; no process appends until that transaction ends.
struct BufferHold {
  private let buffer: WriteBuffer?
  private var stored: [BufferLog] = []
  private var storedCount = 0
  private var limits: [NamespaceID: Limits] = [:]
  private var isDamaged = false
  private var terms = BufferTerms()
  /// The number of the transaction that has set `terms`.
  private var noted: UInt64 = 0
  /// Whether that transaction has stored and removed no record. LMDB makes no commit then, so nothing can have failed.
  private var isUnchanged = false
  private let lost: LostRecords

  init(_ buffer: WriteBuffer?, without lost: LostRecords) {
    self.buffer = buffer
    self.lost = lost
  }

  /// Stores the records before the batch makes its own changes. `commit` is the last commit before the transaction. If
  /// `keepsAppending` is set, processes append during the whole transaction if possible. Returns the number of stored records.
  mutating func begin(
    _ session: inout WriteSession, on commit: UInt64, keepsAppending: Bool
  ) throws -> Int {
    guard let buffer else { return 0 }
    (stored, storedCount, limits, isDamaged) = ([], 0, [:], false)
    let timeout = session.engine.environment.lockTimeout
    let older = try buffer.turn(on: commit, lockTimeout: timeout)
    if let older {
      try store(older, of: buffer, &session)
      KillPoint.pass(14)
      buffer.besideCommit()
    }
    // Invalidations and removals of dependents must see the newest entries, and may number removals only while no process
    // appends. After damage, versions are skipped; after a loss, appends stop. In each case all records must be stored.
    let (state, isWhole) = (session.state, lost.isEmpty && !isDamaged)
    if older == nil || !keepsAppending || !isWhole || state.dependents + state.tombstones > 0 {
      let logs = try buffer.freeze(on: commit, lockTimeout: timeout)
      if older != nil { session.renewTime() }
      for log in logs where log.generation != older?.generation {
        try store(log, of: buffer, &session)
      }
    }
    if isDamaged {
      // Skips the versions that damaged records may have had, because readers may have seen other values with these versions.
      for id in Set(buffer.namespaceIDs) where try session.isLive(id) {
        try session.update(id) { $0.next &+= 1 << 20 }
      }
    }
    return storedCount
  }

  /// Stores a log before the batch makes changes. Throws ``RolledBack`` at damage: a record may already be partly stored.
  private mutating func store(
    _ log: BufferLog, of buffer: WriteBuffer, _ session: inout WriteSession
  ) throws {
    // If all records are damaged, the batch changes nothing. But only a commit empties the log, so the batch must commit.
    session.forceCommit()
    let contents = BufferContents(of: buffer, log)
    let places = lost.remaining(contents.places, of: log)
    let bytes = contents.bytes.span
    session.deadlines.keepsAll = true
    defer { session.deadlines.keepsAll = false }
    for place in places {
      do throws(LarderError) {
        try session.store(place, bytes.extracting(place.entry), for: bytes.extracting(place.key))
      } catch {
        guard error.code == .damaged else { throw error }
        throw RolledBack.recordUnstorable(offset: place.offset, generation: log.generation)
      }
    }
    for (id, namespace) in contents.namespaces where try session.isLive(id) {
      try session.update(id) { counters in
        counters.next = max(counters.next, namespace.next)
        counters.removals = counters.removals + namespace.removals
      }
      // If the record of the namespace is damaged, the room of the namespace is not counted again.
      limits[id] = try session.namespaces().first { $0.id == id }?.rules.limits
    }
    isDamaged = isDamaged || contents.isDamaged
    for time in contents.times {
      session.recordWrite(at: min(Timestamp(milliseconds: max(time, 0)), session.now))
    }
    stored.append(log)
    storedCount += places.count
  }

  var hasRecords: Bool { !stored.isEmpty }

  /// If there were single writes after the last commit, evicts entries to make room for the next records. The batch has not
  /// written any entry of its own yet, so this call evicts no such entry.
  func evictAhead(_ session: inout WriteSession) throws(LarderError) {
    guard let buffer, buffer.appends else { return }
    let crowded = buffer.takeCrowded()
    if crowded != nil || hasRecords { try session.evictAhead(also: crowded) }
  }

  mutating func note(_ session: borrowing WriteSession) {
    let state = session.state
    terms = BufferTerms(
      metadata: state.generation,
      room: BufferRoom(session.budget.limits.counted, used: state.usage),
      pages: session.pagesForRecords, isWatched: state.watched != 0,
      hasDependents: state.dependents != 0)
    (noted, isUnchanged) = (session.transaction.id, session.transaction.changes == 0)
    for (id, limits) in limits {
      let counters = session.ledger.read(id) { $0 }
      terms.namespaces[id] = (counters.next, BufferRoom(limits, used: counters.usage))
    }
    KillPoint.pass(8)
  }

  /// Called before another transaction begins. If `keepsFrozen` is set, no process can append until the next transaction ends.
  func end(newest: UInt64, in environment: Environment, keepsFrozen: Bool) {
    guard let buffer else { return }
    let count = stored.reduce(0) { $0 + lost.count(in: buffer, $1) }
    // After a rollback `newest` may be the commit of a killed process. This process has not counted the room of that commit.
    let terms = newest == noted ? terms : BufferTerms()
    if buffer.end(newest: newest, in: environment, terms, keepsFrozen: keepsFrozen, isUnchanged) {
      buffer.countLost(count)
    }
  }
}

/// Records that no commit can store, because a page of the data is damaged.
struct LostRecords {
  /// If more records of a generation are lost, the whole generation is lost, because each lost record costs one try to commit.
  private static let most = 64

  /// For each generation, the offsets of the lost records.
  private var offsets: [UInt64: Set<Int>] = [:]

  var isEmpty: Bool { offsets.isEmpty }

  mutating func insert(_ offset: Int, of generation: UInt64) {
    offsets[generation, default: []].insert(offset)
  }

  func remaining(_ places: [BufferPlace], of log: BufferLog) -> [BufferPlace] {
    guard let lost = offsets[log.generation] else { return places }
    return lost.count > Self.most ? [] : places.filter { !lost.contains($0.offset) }
  }

  func count(in buffer: WriteBuffer, _ log: BufferLog) -> Int {
    guard let lost = offsets[log.generation] else { return 0 }
    return lost.count > Self.most ? BufferContents(of: buffer, log).places.count : lost.count
  }
}
