@testable import Larder

/// A cache in memory of keys that are numbers, driven by the store's own policy: what a namespace is to it.
struct MemoryQueue: EvictionQueue {
  var state = QueueState()
  let capacity: UInt64
  let table: AccessTable
  var countsBytes = false
  var sizes: [Int: UInt64] = [:]
  var stays: (Int) -> Bool = { _ in false }
  private(set) var bytes: UInt64 = 0
  private var sequences: [Int: UInt64] = [:]
  /// By sequence, in its order.
  private var queue: [(sequence: UInt64, key: Int)] = []
  private var next: UInt64 = 1
  private var spared: Set<UInt64> = []
  private var inserting: UInt64?

  init(capacity: Int, table: AccessTable) {
    self.capacity = UInt64(capacity)
    self.table = table
  }

  static func hash(_ key: Int) -> UInt64 {
    var mixed = UInt64(key) &* 0x9E37_79B9_7F4A_7C15
    mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
    return mixed ^ mixed >> 31
  }

  func holds(_ key: Int) -> Bool { sequences[key] != nil }

  /// Serves a request and says whether it was a hit.
  mutating func access(_ key: Int) throws(LarderError) -> Bool {
    if holds(key) {
      table.touch(Self.hash(key), in: 0)
      return true
    }
    let policy = AdaptivePolicy(table: table, minute: 0)
    let entry = (sequence: next, key: key)
    next += 1
    queue.append(entry)
    sequences[key] = entry.sequence
    bytes += size(key)
    state.windowEntries += 1
    state.windowBytes += size(key)
    spared = []
    inserting = entry.sequence
    _ = table.fits(entries: Int(capacity), in: 0)
    try policy.inserted(candidate(entry), into: &self)
    if isOver { try policy.makeRoom(in: &self) }
    return false
  }

  private func size(_ key: Int) -> UInt64 { sizes[key] ?? 1 }

  private func candidate(_ entry: (sequence: UInt64, key: Int)) -> Candidate {
    Candidate(
      sequence: entry.sequence, size: size(entry.key), hash: Self.hash(entry.key),
      slot: Array("\(entry.key)".utf8))
  }

  private func index(from sequence: UInt64) -> Int {
    var (low, high) = (0, queue.count)
    while low < high {
      let middle = (low + high) / 2
      if queue[middle].sequence < sequence { low = middle + 1 } else { high = middle }
    }
    return low
  }

  var recountedWindow: (UInt64, UInt64) {
    let window = queue[index(from: state.edge)...]
    return (UInt64(window.count), window.reduce(0) { $0 + size($1.key) })
  }

  var entries: UInt64 { UInt64(queue.count) }
  private var usage: UInt64 { countsBytes ? bytes : entries }
  var isOver: Bool { usage > capacity }
  var isNearlyFull: Bool { isOver }
  func cost(ofSize size: UInt64) -> UInt64 { countsBytes ? size : 1 }
  var windowCost: UInt64 { countsBytes ? state.windowBytes : state.windowEntries }

  mutating func first(from sequence: UInt64) -> Candidate? {
    queue[index(from: sequence)...]
      .first { !spared.contains($0.sequence) && $0.sequence != inserting }.map(candidate)
  }

  mutating func cross() -> Candidate? {
    let place = index(from: state.edge)
    guard place < queue.count, queue[place].sequence != inserting else { return nil }
    let entry = queue[place]
    state.edge = entry.sequence + 1
    state.windowEntries -= 1
    state.windowBytes -= size(entry.key)
    return candidate(entry)
  }

  mutating func evict(_ candidate: Candidate) -> Bool {
    let place = index(from: candidate.sequence)
    let key = queue[place].key
    if stays(key) {
      spared.insert(candidate.sequence)
      return false
    }
    queue.remove(at: place)
    sequences[key] = nil
    bytes -= candidate.size
    table.forget(candidate.hash)
    if candidate.sequence >= state.edge {
      state.windowEntries -= 1
      state.windowBytes -= candidate.size
    }
    return true
  }
}

/// The same rules said another way: each part of the queue is a list, and what crosses the edge moves from one to the
/// other.
struct ListedAdaptive {
  private let capacity: Int
  private let table: AccessTable
  private var window: [Int] = []
  private var main: [Int] = []
  /// The place in `main` where the search for a victim goes on.
  private var hand = 0
  private var state = QueueState()

  init(capacity: Int, table: AccessTable) {
    self.capacity = capacity
    self.table = table
  }

  var count: Int { window.count + main.count }

  mutating func access(_ key: Int) -> Bool {
    let hash = MemoryQueue.hash(key)
    if window.contains(key) || main.contains(key) {
      table.touch(hash, in: 0)
      return true
    }
    _ = table.fits(entries: capacity, in: 0)
    table.setMark(firstMark(of: hash), of: hash, in: 0)
    table.sweep()
    window.append(key)
    var steps = 0
    while steps < 64, Double(window.count) > WindowTarget(state).share * Double(capacity),
      window.count > 1
    {
      main.append(window.removeFirst())
      compete()
      steps += 1
    }
    while count > capacity {
      if main.isEmpty { evict(window.removeFirst(), .window) } else { evictMain(victim()!) }
    }
    return false
  }

  private mutating func firstMark(of hash: UInt64) -> AccessStats {
    // The new entry counts already.
    let age = GhostAge(state, entries: UInt64(count + 1))
    guard let ghost = table.takeGhost(of: hash), age.isAlive(ghost) else {
      return AccessStats(frequency: 1)
    }
    let frequency = min(15, ghost.frequency + 1)
    guard age.isRegret(ghost) else { return AccessStats(frequency: frequency) }
    var target = WindowTarget(state)
    target.regret(ghost.part, share: 1 / Double(capacity))
    target.store(in: &state)
    return AccessStats(frequency: frequency, clock: 1)
  }

  private mutating func compete() {
    let mark = table.mark(of: MemoryQueue.hash(main.last!))
    while count > capacity {
      guard let victim = victim(sparingNewest: true),
        mark.clock > 0
          || mark.frequency > max(1, table.mark(of: MemoryQueue.hash(main[victim])).frequency)
      else {
        evict(main.removeLast(), .window)
        return
      }
      evictMain(victim)
    }
  }

  private mutating func victim(sparingNewest: Bool = false) -> Int? {
    let end = main.count - (sparingNewest ? 1 : 0)
    guard end > 0 else { return nil }
    if hand >= end { hand = 0 }
    for _ in 0..<64 where table.mark(of: MemoryQueue.hash(main[hand])).clock > 0 {
      table.lowerClock(of: MemoryQueue.hash(main[hand]))
      hand = hand + 1 < end ? hand + 1 : 0
    }
    return hand
  }

  private mutating func evictMain(_ place: Int) { evict(main.remove(at: place), .main) }

  private mutating func evict(_ key: Int, _ part: QueuePart) {
    let hash = MemoryQueue.hash(key)
    // It counts until it is gone.
    let entries = UInt64(count + 1)
    let frequency = table.mark(of: hash).frequency
    table.forget(hash)
    var age = GhostAge(state, entries: entries)
    table.putGhost(of: hash, stamp: age.stamp, part: part, frequency: frequency)
    age.evicted()
    age.store(in: &state)
    var target = WindowTarget(state)
    target.evicted(from: part, of: entries)
    target.store(in: &state)
  }
}
