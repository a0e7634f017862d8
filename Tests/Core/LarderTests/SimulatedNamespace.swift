import LarderSystem

@testable import Larder

/// A namespace in memory whose keys are numbers. The namespace uses the eviction policy and the access table of the store.
struct SimulatedNamespace: SequencedQueue {
  var state = QueueState()
  var capacity: UInt64
  let table: AccessTable
  var countsBytes = false
  var sizes: [Int: UInt64] = [:]
  var stays: (Int) -> Bool = { _ in false }
  private(set) var bytes: UInt64 = 0
  private var sequences: [Int: UInt64] = [:]
  private var queue: [(sequence: UInt64, key: Int)] = []
  private var next: UInt64 = 1
  private var spared: Set<UInt64> = []
  private var inserting: UInt64?
  static let id = NamespaceID(rawValue: 7)

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

  /// Serves a request. Returns whether the request was a hit.
  mutating func access(_ key: Int) throws(LarderError) -> Bool {
    if let sequence = sequences[key] {
      table.touch(Self.hash(key), sequence: sequence, of: Self.id, in: 0)
      return true
    }
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
    try inserted(candidate(entry), of: Self.id, in: 0)
    if isOver { try makeRoom() }
    return false
  }

  private func size(_ key: Int) -> UInt64 { sizes[key] ?? 1 }

  private func candidate(_ entry: (sequence: UInt64, key: Int)) -> Candidate {
    Candidate(
      sequence: entry.sequence, size: size(entry.key), hash: Self.hash(entry.key),
      entryKey: Array("\(entry.key)".utf8))
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
    let window = queue[index(from: state.windowBoundary)...]
    return (UInt64(window.count), window.reduce(0) { $0 + size($1.key) })
  }

  var policy: PolicyState {
    get { state.policy }
    set { state.policy = newValue }
  }

  var clockHand: UInt64 {
    get { state.clockHand }
    set { state.clockHand = newValue }
  }

  var entries: UInt64 { UInt64(queue.count) }
  private var usage: UInt64 { countsBytes ? bytes : entries }
  var isOver: Bool { usage > capacity }
  var isNearlyFull: Bool { isOver }
  var windowCost: UInt64 { countsBytes ? state.windowBytes : state.windowEntries }

  mutating func first(from sequence: UInt64) -> Candidate? {
    queue[index(from: sequence)...]
      .first { !spared.contains($0.sequence) && $0.sequence != inserting }.map(candidate)
  }

  mutating func promote() -> Candidate? {
    let place = index(from: state.windowBoundary)
    guard place < queue.count, queue[place].sequence != inserting else { return nil }
    let entry = queue[place]
    state.windowBoundary = entry.sequence + 1
    state.windowEntries -= 1
    state.windowBytes -= size(entry.key)
    return candidate(entry)
  }

  mutating func remove(_ candidate: Candidate) -> Bool {
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
    if candidate.sequence >= state.windowBoundary {
      state.windowEntries -= 1
      state.windowBytes -= candidate.size
    }
    return true
  }
}

extension AccessStats {
  /// Counts a use as the policy describes it; ``AccessSlot`` must count in the same way.
  mutating func use() {
    guard clock < 3 else { return }
    clock += 1
    frequency = min(Self.mostFrequency, frequency + 1)
  }
}

/// A second implementation of the eviction policy, for comparison. Each part of the queue is here a list of keys.
struct ListedPolicy {
  private let capacity: Int
  private let table: AccessTable
  private var window: [Int] = []
  private var main: [Int] = []
  /// The index in `main` at which the search for a victim continues.
  private var hand = 0
  private var state = QueueState()
  private var sequences: [Int: Int] = [:]
  private var newest = 0
  /// The number of newest entries whose uses do not count. Each insertion computes this number again.
  private var recent = 0

  init(capacity: Int, table: AccessTable) {
    self.capacity = capacity
    self.table = table
  }

  var count: Int { window.count + main.count }

  mutating func access(_ key: Int) -> Bool {
    let hash = SimulatedNamespace.hash(key)
    if window.contains(key) || main.contains(key) {
      let isRecent = sequences[key]! > newest - recent
      // A full bucket of the table forgets a key. The counts of a forgotten key begin at 0 again, in each part of the queue.
      let isForgotten = table.words.view.find(hash) == nil
      var stats = isForgotten ? AccessStats(frequency: isRecent ? 1 : 0) : table.stats(of: hash)
      if !isRecent { stats.use() }
      table.setStats(stats, of: hash, in: 0)
      return true
    }
    _ = table.fits(entries: capacity, in: 0)
    table.setStats(firstStats(of: hash), of: hash, in: 0)
    table.sweep()
    window.append(key)
    newest += 1
    sequences[key] = newest
    recent = (window.count - 1) / 4
    var steps = 0
    while steps < 64, window.count > 1,
      Double(window.count) / Double(capacity) > state.policy.target.share
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

  private mutating func firstStats(of hash: UInt64) -> AccessStats {
    // The number of entries includes the new entry.
    let entries = UInt64(count + 1)
    let ghost = table.takeGhost(of: hash).flatMap { state.policy.ghost($0, entries: entries) }
    let isGhostHit = ghost.map { $0.age <= entries / 2 } ?? false
    state.policy.returns.inserted(isReturn: ghost != nil, isGhostHit: isGhostHit, entries: entries)
    guard let ghost else { return AccessStats(frequency: 1) }
    let frequency = min(15, ghost.frequency + 1)
    guard isGhostHit else { return AccessStats(frequency: frequency) }
    if state.policy.returns.isLooping {
      state.policy.target.relax(share: 1 / Double(capacity))
      return AccessStats(frequency: frequency)
    }
    state.policy.target.ghostHit(
      ghost.part, share: 1 / Double(capacity), youth: state.policy.youth(of: entries))
    return AccessStats(frequency: frequency, clock: 1)
  }

  private func stats(_ key: Int) -> AccessStats { table.stats(of: SimulatedNamespace.hash(key)) }

  private mutating func compete() {
    let own = stats(main.last!)
    while count > capacity {
      guard let victim = victim(sparingNewest: true) else {
        return evict(main.removeLast(), .window)
      }
      var other = stats(main[victim])
      if own.clock > 0 || own.frequency > max(1, other.frequency) {
        evictMain(victim)
        continue
      }
      if own.frequency > 1, other.clock == 0, state.policy.returns.areRare {
        if other.frequency > 1 {
          other.frequency -= 1
          table.changeStats(other, of: SimulatedNamespace.hash(main[victim]))
        }
        hand = victim + 1
      }
      return evict(main.removeLast(), .window)
    }
  }

  private mutating func victim(sparingNewest: Bool = false) -> Int? {
    let end = main.count - (sparingNewest ? 1 : 0)
    guard end > 0 else { return nil }
    if hand >= end { hand = 0 }
    for _ in 0..<64 {
      var found = stats(main[hand])
      if found.clock == 0 { break }
      found.clock -= 1
      table.changeStats(found, of: SimulatedNamespace.hash(main[hand]))
      hand = hand + 1 < end ? hand + 1 : 0
    }
    return hand
  }

  private mutating func evictMain(_ place: Int) { evict(main.remove(at: place), .main) }

  private mutating func evict(_ key: Int, _ part: QueuePart) {
    let hash = SimulatedNamespace.hash(key)
    // The number of entries includes the victim.
    let entries = UInt64(count + 1)
    let frequency = table.stats(of: hash).frequency
    table.forget(hash)
    sequences[key] = nil
    let stamp = state.policy.ghostStamp(entries: entries)
    table.putGhost(of: hash, stamp: stamp, part: part, frequency: frequency)
    state.policy.evicted(from: part, of: entries)
  }
}
