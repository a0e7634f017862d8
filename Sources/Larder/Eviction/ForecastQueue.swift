import LMDB
import LarderSystem

/// The queue of a namespace as it would become: what a policy evicts is only counted.
///
/// New entries are of the mean size and never in the queue: what comes is taken to stay.
struct ForecastQueue: ~Copyable, EvictionQueue {
  private let transaction: ReadTransaction
  private let engine: StoreEngine
  private let id: NamespaceID
  /// The entry whose rank is asked for.
  private let asked: UInt64
  private let most: Int
  private let countsBytes: Bool
  private let meanSize: UInt64
  private var looks = 0
  private var left: Set<UInt64> = []
  private var isFound = false
  /// What is in the namespace, in the limit's measure.
  private var usage: UInt64

  var state: QueueState
  private(set) var entries: UInt64
  let capacity: UInt64

  private static let looksPerEntry = 20

  init(
    of id: NamespaceID, _ counters: NamespaceCounters, _ limits: Limits, until asked: UInt64,
    most: Int, in transaction: consuming ReadTransaction, _ engine: StoreEngine
  ) {
    self.transaction = transaction
    self.engine = engine
    self.id = id
    self.asked = asked
    self.most = most
    countsBytes = limits.countsBytes(counters) ?? false
    meanSize = max(1, counters.bytes / max(1, counters.entries))
    state = counters.queue
    entries = counters.entries
    capacity = countsBytes ? counters.bytes : counters.entries
    usage = capacity
  }

  var rank: EvictionRank { EvictionRank(ahead: left.count, isAtLeast: !isFound) }

  private var isAtEnd: Bool {
    isFound || left.count >= most || looks / Self.looksPerEntry >= most
  }

  /// Lets entries come until it is known when the one asked for leaves, one by one or all that it takes at once.
  mutating func foresee(_ policy: some RoomPolicy, atOnce: Bool = false) throws(LarderError) {
    while !isAtEnd {
      let before = left.count
      let arriving = atOnce ? entries : 1
      usage += cost(ofSize: meanSize) * arriving
      state.windowEntries += arriving
      state.windowBytes += meanSize * arriving
      try policy.makeRoom(in: &self)
      // Nothing can leave any more, or there is room for several of the mean size.
      if left.count == before, isOver { return }
    }
  }

  var isOver: Bool { usage > capacity && !isAtEnd }
  var isNearlyFull: Bool { true }
  func cost(ofSize size: UInt64) -> UInt64 { countsBytes ? size : 1 }
  var windowCost: UInt64 { countsBytes ? state.windowBytes : state.windowEntries }

  mutating func first(from sequence: UInt64) throws(LarderError) -> Candidate? {
    var looked = 0
    defer { looks += looked }
    do throws(LMDBError) {
      return try find(from: sequence, &looked)
    } catch {
      throw engine.error(error)
    }
  }

  private func find(
    from sequence: UInt64, _ looked: inout Int
  ) throws(LMDBError) -> Candidate? {
    var cursor = try transaction.cursor(in: engine.indexes.queue)
    let prefix = id.prefix
    var record = try cursor.seek(IndexKey.queue(sequence, in: id).span)
    while let found = record, found.key.starts(with: prefix.span) {
      looked += 1
      if let place = QueueRecord(found.key, found.value), !left.contains(place.sequence),
        let entry = try transaction.find(place.slot, in: .main),
        let candidate = place.candidate(transaction.bytes(of: entry))
      {
        return candidate
      }
      record = try cursor.next()
    }
    return nil
  }

  mutating func cross() throws(LarderError) -> Candidate? {
    guard let found = try first(from: state.edge) else { return nil }
    state.edge = found.sequence + 1
    leaveWindow(found)
    return found
  }

  private mutating func leaveWindow(_ entry: Candidate) {
    state.windowEntries -= min(1, state.windowEntries)
    state.windowBytes -= min(entry.size, state.windowBytes)
  }

  mutating func evict(_ candidate: Candidate) -> Bool {
    guard !isAtEnd else { return false }
    if candidate.sequence >= state.edge { leaveWindow(candidate) }
    usage -= min(cost(ofSize: candidate.size), usage)
    if candidate.sequence == asked {
      isFound = true
    } else {
      left.insert(candidate.sequence)
      entries -= min(1, entries)
    }
    return true
  }
}

/// The marks of the access table as they would become.
final class ForecastMarks: UseMarks {
  private let table: AccessTable
  private var clocks: [UInt64: UInt32] = [:]

  init(_ table: AccessTable) { self.table = table }

  func mark(of hash: UInt64) -> AccessStats {
    var mark = table.mark(of: hash)
    if let clock = clocks[hash] { mark.clock = clock }
    return mark
  }

  func lowerClock(of hash: UInt64) {
    let clock = mark(of: hash).clock
    if clock > 0 { clocks[hash] = clock - 1 }
  }

  func putGhost(of hash: UInt64, stamp: UInt64, part: QueuePart, frequency: UInt32) {}
}
