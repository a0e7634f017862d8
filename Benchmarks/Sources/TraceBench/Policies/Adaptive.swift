/// The policy of the store: a queue, a boundary between window and main part, and a clock hand. A hit changes only statistics.
/// Entries never move. A ghost is the record of an evicted entry.
///
/// This code does not use the code of the store, so that the two can be compared. `Docs/Internals/Eviction.md` has the rules.
struct Adaptive<Table: AccessTable>: Policy {
  static var name: String { "adaptive, \(Table.name)" }

  private let capacity: Int
  private var table: Table
  private var queue: Lists
  private var sequences: [Int]
  private var nextSequence = 0
  /// An entry whose sequence is at least this number is in the window. All other entries are in main.
  private var windowBoundary = 0
  /// The oldest entry of the window, stored here to avoid a search.
  private var firstInWindow: Int?
  private var windowCount = 0
  /// The number of newest entries in the window whose uses do not count. Each insertion changes this number.
  private var recentCount = 0
  /// The entry at the clock hand; nil if the hand is after the newest entry.
  private var clockHand: Int?
  private var target: WindowTarget
  private var inserts = 0
  private var evictions = 0
  /// Moving averages over insertions: the share of ghost hits, and the share of keys that have a ghost of any age.
  private var ghostHits = 0.0
  private var returns = 0.0
  private var isLooping = false

  private static var mostSteps: Int { 64 }

  init(capacity: Int, keys: Int) {
    self.capacity = capacity
    table = Table(entries: capacity, keys: keys)
    queue = Lists(1, keys: keys)
    sequences = Array(repeating: 0, count: keys)
    target = WindowTarget(capacity: Double(capacity))
  }

  var count: Int { queue.counts[0] }

  mutating func access(_ request: Request) -> Bool {
    if queue.contains(request.key) {
      if nextSequence - sequences[request.key] > recentCount {
        var stats = table.stats(of: request.key)
        stats.hit()
        table.setStats(stats, of: request.key)
      }
      return true
    }
    insert(request.key)
    return false
  }

  private mutating func insert(_ key: Int) {
    table.setStats(firstStats(of: key), of: key)
    append(key)
    recentCount = (windowCount - 1) / 4
    inserts += 1
    if inserts.isMultiple(of: 8 * capacity) { table.halveFrequencies() }
    // The new entry is never promoted, and so never evicted here, because a value that was just written must be readable.
    while Double(windowCount) > target.entries, let x = firstInWindow, x != key {
      promote(x)
      compete(x)
    }
    while count > capacity, let v = victim(sparing: nil) ?? firstInWindow {
      evict(v)
    }
  }

  private mutating func firstStats(of key: Int) -> AccessStats {
    let ghost = table.takeGhost(of: key)
    let isGhostHit = ghost.map { $0.age <= capacity / 2 } ?? false
    ghostHits += ((isGhostHit ? 1 : 0) - ghostHits) / Double(capacity)
    returns += ((ghost == nil ? 0 : 1) - returns) / Double(capacity)
    if ghostHits > 0.4 { isLooping = true }
    if ghostHits < 0.3 { isLooping = false }
    var stats = AccessStats(frequency: 1)
    guard let ghost else { return stats }
    stats.frequency = min(AccessStats.mostFrequency, 1 + ghost.frequency)
    guard isGhostHit else { return stats }
    if isLooping {
      target.relax()
    } else {
      stats.clock = 1
      target.ghostHit(ghost.part, youth: min(1, 0.3 * Double(capacity) / Double(max(1, evictions))))
    }
    return stats
  }

  /// While the cache is too large, evicts either the promoted entry or the entry at the clock hand.
  private mutating func compete(_ x: Int) {
    let own = table.stats(of: x)
    while count > capacity {
      guard let v = victim(sparing: x) else { return evict(x, from: .window) }
      var other = table.stats(of: v)
      guard own.clock > 0 || own.frequency > max(1, other.frequency) else {
        // A returning key that loses against an unused entry lowers that entry's frequency, except if many keys return.
        if own.frequency > 1, other.clock == 0, returns <= 0.3 {
          other.frequency = max(1, other.frequency - 1)
          table.setStats(other, of: v)
          clockHand = queue.newer(than: v)
        }
        return evict(x, from: .window)
      }
      evict(v)
    }
  }

  /// The first unused entry of main, searched from the clock hand. After `mostSteps` steps, the entry that the hand has reached.
  private mutating func victim(sparing x: Int?) -> Int? {
    guard var v = main(from: clockHand, sparing: x) else { return nil }
    var steps = 0
    while steps < Self.mostSteps {
      var stats = table.stats(of: v)
      if stats.clock == 0 { break }
      stats.clock -= 1
      table.setStats(stats, of: v)
      guard let next = main(from: queue.newer(than: v), sparing: x) else { break }
      v = next
      steps += 1
    }
    clockHand = v
    return v
  }

  /// The first entry of main at or after `key`, but not `x`. After the newest entry, the search continues at the oldest.
  private func main(from key: Int?, sparing x: Int?) -> Int? {
    if let key, let found = main(at: key, sparing: x) { return found }
    return queue.oldest(of: 0).flatMap { main(at: $0, sparing: x) }
  }

  private func main(at key: Int, sparing x: Int?) -> Int? {
    guard let found = key == x ? queue.newer(than: key) : key else { return nil }
    return sequences[found] < windowBoundary ? found : nil
  }

  private mutating func append(_ key: Int) {
    sequences[key] = nextSequence
    queue.append(key, to: 0)
    if firstInWindow == nil { firstInWindow = key }
    if clockHand == nil { clockHand = key }
    nextSequence += 1
    windowCount += 1
  }

  private mutating func promote(_ x: Int) {
    windowBoundary = sequences[x] + 1
    firstInWindow = queue.newer(than: x)
    windowCount -= 1
  }

  private mutating func evict(_ key: Int) {
    evict(key, from: sequences[key] < windowBoundary ? .main : .window)
  }

  private mutating func evict(_ key: Int, from part: Part) {
    table.putGhost(of: key, part: part, frequency: table.stats(of: key).frequency)
    table.removeStats(of: key)
    evictions += 1
    target.evicted(from: part)
    if sequences[key] >= windowBoundary { windowCount -= 1 }
    if firstInWindow == key { firstInWindow = queue.newer(than: key) }
    if clockHand == key { clockHand = queue.newer(than: key) }
    queue.remove(key)
  }
}

/// The number of entries that the window may have. A ghost hit enlarges the part (window or main) from which its key was
/// evicted. The steps are larger after several hits for the same part, and in a new cache.
struct WindowTarget {
  private let capacity: Double
  private(set) var entries: Double
  private var run = (count: 0, part: Part.window)
  /// The number of evictions from each part. Recent evictions count more than old ones.
  private var evictions = [0.0, 0.0]

  private var first: Double { 0.10 * capacity }

  init(capacity: Double) {
    self.capacity = capacity
    entries = 0.10 * capacity
  }

  mutating func ghostHit(_ part: Part, youth: Double) {
    run = (part == run.part ? run.count + 1 : 1, part)
    let own = evictions[part.rawValue]
    let ratio = own > 0 ? min(64, max(1, evictions[part.other.rawValue] / own)) : 1
    let boost = min(max(4, 64 * youth), 1 + Double(run.count) / 8)
    let step = max(0.5, 0.0001 * capacity * youth) * ratio * boost
    entries = min(max(entries + (part == .window ? step : -step), 0.01 * capacity), 0.80 * capacity)
  }

  /// Moves the target a little towards its first value, because a ghost hit in a loop does not show which part is too small.
  mutating func relax() {
    if entries > first { entries = max(entries - 0.5, first) }
  }

  mutating func evicted(from part: Part) {
    let fade = 1 - 0.5 / capacity
    for index in evictions.indices { evictions[index] *= fade }
    evictions[part.rawValue] += 1
  }
}
