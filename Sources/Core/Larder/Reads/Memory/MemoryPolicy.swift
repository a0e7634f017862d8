import Synchronization

/// The decoded values of one memory in the order of their insertion, and the state of the eviction policy, which is the policy
/// of the store: ``EvictionQueue``. Each item has its statistics. A memory prefers new values to values that were never used. A
/// wrong choice only means that a value is decoded again, because the entry stays in the store.
struct MemoryPolicy: EvictionQueue {
  private(set) var queue = MemoryQueue()
  private var ghosts = MemoryGhosts()
  var policy = PolicyState()
  /// The clock hand: the place in the queue where the search for the next victim begins, or ``MemoryQueue/end``.
  var clockHand = MemoryQueue.end
  /// The place of the item whose frequency is halved next. Every eight insertions halve the frequency of one item.
  private var aging = MemoryQueue.end
  private var insertions: UInt64 = 0

  // The next three properties are valid only during one operation.
  private var capacity = MemoryUsage(cost: .max, entries: .max)
  private var pending = MemoryUsage()
  private var now: Int64 = 0

  /// The items that the policy has evicted or removed, but that are still in the tables of the memory.
  var leaving: [MemoryItem] = []

  var usage: MemoryUsage { queue.usage }
  /// Items with this number or a higher number are too new, so their uses do not count.
  var firstRecent: UInt64 { insertions &+ 1 &- UInt64(max(1, queue.window.entries) - 1) / 4 }

  /// Makes room for a new item, and appends the item. The item itself must fit into the capacity.
  mutating func insert(_ item: MemoryItem, capacity: MemoryUsage, now: Int64) {
    pending = item.usage
    defer { pending = MemoryUsage() }
    (self.capacity, self.now) = (capacity, now)
    item.stats = firstStats(ofHash: item.hash, share: capacity.share(of: pending))
    makeRoom()
    insertions &+= 1
    item.number.store(insertions, ordering: .relaxed)
    queue.append(item)
    ghosts.grow(to: queue.usage.entries)
    if insertions.isMultiple(of: 8) {
      if aging == MemoryQueue.end { aging = queue.oldest }
      queue[aging].stats.frequency /= 2
      aging = queue.newer(than: aging)
    }
  }

  /// Puts a new value of a key into the place of the old value, with the statistics of the old value.
  mutating func replace(_ old: MemoryItem, by new: MemoryItem, capacity: MemoryUsage, now: Int64) {
    (self.capacity, self.now) = (capacity, now)
    new.inherit(from: old)
    new.recordUse(firstRecent: firstRecent)
    queue.replace(old, by: new)
    while isOver {
      if !evictOne(sparing: new.place) { evict(new.place, from: part(of: new.place)) }
    }
  }

  mutating func makeRoom(capacity: MemoryUsage, now: Int64) {
    (self.capacity, self.now) = (capacity, now)
    makeRoom()
  }

  /// Evicts items until the rest fits into `capacity`. Begins with the oldest of the items that were never used. O(n).
  mutating func trim(to capacity: MemoryUsage) {
    (self.capacity, now) = (capacity, .min)
    var place = queue.oldest
    while place != MemoryQueue.end, isOver {
      let next = queue.newer(than: place)
      if !queue[place].isUsed { evict(place, from: part(of: place)) }
      place = next
    }
    makeRoom()
  }

  mutating func removeAll() {
    clockHand = MemoryQueue.end
    aging = MemoryQueue.end
    leaving = queue.removeAll()
  }

  private func part(of place: Int) -> QueuePart { queue.isMain(place) ? .main : .window }
}

/// The eviction policy names an entry by its place in the queue.
extension MemoryPolicy {
  typealias Failure = Never

  var entries: UInt64 { UInt64(ghosts.entries) }
  var isOver: Bool { !capacity.holds(queue.usage + pending) }
  var windowShare: Double { capacity.share(of: queue.window + pending) }

  mutating func promote() -> Int? { queue.promote() }

  func oldestInWindow(sparing spared: Int?) -> Int? {
    let oldest = skip(spared, from: queue.firstInWindow)
    return oldest == MemoryQueue.end ? nil : oldest
  }

  func main(from position: Int, sparing spared: Int?) -> Int? {
    let found = skip(spared, from: position)
    if found != MemoryQueue.end, queue.isMain(found) { return found }
    let oldest = skip(spared, from: queue.oldest)
    return oldest != MemoryQueue.end && queue.isMain(oldest) ? oldest : nil
  }

  func position(of entry: Int) -> Int { entry }
  func position(after entry: Int) -> Int { queue.newer(than: entry) }

  mutating func remove(_ entry: Int) -> Bool {
    if clockHand == entry { clockHand = queue.newer(than: entry) }
    if aging == entry { aging = queue.newer(than: entry) }
    leaving.append(queue[entry])
    queue.remove(entry)
    return true
  }

  func stats(of entry: Int) -> AccessStats { queue[entry].stats }
  func setStats(_ stats: AccessStats, of entry: Int) { queue[entry].stats = stats }
  func hash(of entry: Int) -> UInt64 { queue[entry].hash }

  mutating func takeGhost(of hash: UInt64) -> Ghost? { ghosts.take(hash, at: policy.evictions) }

  mutating func putGhost(
    of hash: UInt64, from part: QueuePart, frequency: UInt32, entries: UInt64
  ) {
    ghosts.put(hash, from: part, frequency: frequency, at: policy.evictions)
  }

  func isExpired(_ entry: Int) -> Bool { queue[entry].isExpired(at: now) }

  func yieldsToNewer(_ entry: Int) -> Bool {
    let item = queue[entry]
    return !item.isUsed && item.stats.frequency <= 1
  }

  private func skip(_ spared: Int?, from place: Int) -> Int {
    place == spared && place != MemoryQueue.end ? queue.newer(than: place) : place
  }
}
