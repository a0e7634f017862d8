/// Decides what leaves a full memory: one queue, an edge and a hand, as `Docs/Eviction.md` describes it for the store.
///
/// New values are on probation in the window. One that leaves the window of a full memory stays if it was used meanwhile,
/// or is used more often than the value under the hand, or if that one was never used at all; the other goes. So a scan
/// passes through and what is used stays, and of what is not used the newest. The window's part follows regrets: keys that come back soon after they left one part say that
/// it is too small. The work of an insertion does not depend on how much is kept.
struct MemoryPolicy {
  private(set) var queue = MemoryQueue()
  private var ghosts = MemoryGhosts()
  /// The share of the capacity that the window may have.
  private var target = firstTarget
  /// Evictions from the window and from main, fading.
  private var windowEvictions = 0.0
  private var mainEvictions = 0.0
  /// The item the hand points at, or ``MemoryQueue/end``.
  private var hand = MemoryQueue.end
  /// Where halving the frequencies goes on, a quarter of an item for each insertion.
  private var aging = MemoryQueue.end
  private var insertions = 0

  private static let lowestTarget = 0.01
  private static let firstTarget = 0.20
  private static let highestTarget = 0.80
  private static let mostSteps = 64

  var usage: MemoryUsage { queue.usage }

  /// Appends a new item after making room for it; what had to leave is added to `leaving`.
  ///
  /// - Precondition: the capacity has room for the item alone.
  mutating func insert(
    _ item: MemoryItem, capacity: MemoryUsage, now: Int64, leaving: inout [MemoryItem]
  ) {
    let size = MemoryUsage(cost: item.cost, entries: 1)
    mark(item, share: capacity.share(of: size))
    makeRoom(for: size, capacity: capacity, now: now, leaving: &leaving)
    queue.append(item)
    ghosts.grow(to: queue.usage.entries)
    age()
  }

  /// Puts another value of the same key in the old one's place: it goes on as the same entry.
  mutating func replace(
    _ old: MemoryItem, by new: MemoryItem, capacity: MemoryUsage, now: Int64,
    leaving: inout [MemoryItem]
  ) {
    new.inherit(from: old)
    new.noteUse()
    queue.replace(old, by: new)
    var spared = new.place
    while !capacity.holds(usage) {
      let place = victim(sparing: spared, now: now) ?? next(queue.firstInWindow, sparing: spared)
      if place == MemoryQueue.end { spared = MemoryQueue.end } else { evict(place, &leaving) }
    }
  }

  mutating func remove(_ item: MemoryItem) {
    if hand == item.place { hand = queue.newer(than: item.place) }
    if aging == item.place { aging = queue.newer(than: item.place) }
    queue.remove(item)
  }

  mutating func removeAll() -> [MemoryItem] {
    hand = MemoryQueue.end
    aging = MemoryQueue.end
    return queue.removeAll()
  }

  /// Evicts until a capacity has room for what is there and `size` more.
  mutating func makeRoom(
    for size: MemoryUsage = MemoryUsage(), capacity: MemoryUsage, now: Int64,
    leaving: inout [MemoryItem]
  ) {
    var steps = 0
    while queue.firstInWindow != MemoryQueue.end, steps < Self.mostSteps,
      capacity.share(of: queue.window + size) > target
    {
      steps += 1
      let crossing = queue.firstInWindow
      queue.cross()
      while !capacity.holds(usage + size) {
        if !compete(crossing, now: now, &leaving) { break }
      }
    }
    while !capacity.holds(usage + size), queue.oldest != MemoryQueue.end {
      evict(victim(sparing: MemoryQueue.end, now: now) ?? queue.firstInWindow, &leaving)
    }
  }

  /// Drops what a capacity has no room for: first what was never used, the oldest of it first. Looks at all there is.
  mutating func trim(to capacity: MemoryUsage, leaving: inout [MemoryItem]) {
    var place = queue.oldest
    while place != MemoryQueue.end, !capacity.holds(usage) {
      let next = queue.newer(than: place)
      if !queue[place].isUsed { evict(place, &leaving) }
      place = next
    }
    makeRoom(capacity: capacity, now: .min, leaving: &leaving)
  }

  /// An item that just crossed the edge and the one under the hand: one of them leaves. False if it is the former.
  private mutating func compete(
    _ crossing: Int, now: Int64, _ leaving: inout [MemoryItem]
  ) -> Bool {
    let item = queue[crossing]
    if !item.isExpired(at: now), let place = victim(sparing: crossing, now: now) {
      let other = queue[place]
      // What was never used gives way to what is newer.
      let isIdle = !other.isUsed && other.frequency <= 1
      if isIdle || item.clock > 0 || item.frequency > max(1, other.frequency)
        || other.isExpired(at: now)
      {
        evict(place, &leaving)
        return true
      }
    }
    evict(crossing, fromWindow: true, &leaving)
    return false
  }

  /// The first of main, from the hand on, that is expired or was not used since the hand came by last; where the hand is
  /// after so many steps.
  private mutating func victim(sparing spared: Int, now: Int64) -> Int? {
    var place = main(from: hand, sparing: spared)
    if place == MemoryQueue.end { return nil }
    for _ in 0..<Self.mostSteps {
      let item = queue[place]
      if item.clock == 0 || item.isExpired(at: now) { break }
      item.clock -= 1
      place = main(from: queue.newer(than: place), sparing: spared)
    }
    hand = place
    return place
  }

  /// The first of main at a place or behind it, from the oldest again after the newest; ``MemoryQueue/end`` if there is
  /// none.
  private func main(from place: Int, sparing spared: Int) -> Int {
    let found = next(place, sparing: spared)
    if found != MemoryQueue.end, queue.isMain(found) { return found }
    let oldest = next(queue.oldest, sparing: spared)
    return oldest != MemoryQueue.end && queue.isMain(oldest) ? oldest : MemoryQueue.end
  }

  private func next(_ place: Int, sparing spared: Int) -> Int {
    place == spared && place != MemoryQueue.end ? queue.newer(than: place) : place
  }

  private mutating func evict(
    _ place: Int, fromWindow: Bool? = nil, _ leaving: inout [MemoryItem]
  ) {
    let item = queue[place]
    let isMain = !(fromWindow ?? !queue.isMain(place))
    ghosts.put(item.hash, isMain: isMain, frequency: item.frequency)
    let fade = 1 - 1 / Double(2 * ghosts.entries)
    windowEvictions *= fade
    mainEvictions *= fade
    if isMain { mainEvictions += 1 } else { windowEvictions += 1 }
    remove(item)
    leaving.append(item)
  }

  /// What a new item begins with. If its key left not long ago, the part it left from should have been larger.
  private mutating func mark(_ item: MemoryItem, share: Double) {
    guard let ghost = ghosts.take(item.hash) else {
      item.frequency = 1
      return
    }
    item.frequency = min(MemoryItem.mostFrequency, ghost.frequency + 1)
    guard ghost.age <= UInt64(ghosts.entries / 2) else { return }
    item.clock = 1
    let (here, other) =
      ghost.isMain ? (mainEvictions, windowEvictions) : (windowEvictions, mainEvictions)
    let step = 0.5 * share * min(64, max(1, other / here))
    target = min(
      max(target + (ghost.isMain ? -step : step), Self.lowestTarget), Self.highestTarget)
  }

  private mutating func age() {
    insertions += 1
    guard insertions.isMultiple(of: 4) else { return }
    if aging == MemoryQueue.end { aging = queue.oldest }
    queue[aging].frequency /= 2
    aging = queue.newer(than: aging)
  }
}
