/// One queue, an edge, a hand: the store's policy. A hit writes a mark and nothing else; entries never move.
///
/// Entries newer than the edge are the window, on probation; older ones are main. An entry that crosses the edge of a full
/// cache stays if it was used or was frequent, at the cost of the entry the hand finds unused. The window's target follows
/// regrets: keys that come back soon after they were evicted from one part say that this part is too small, and the more of
/// them in a row, the more so.
struct Adaptive<Table: AccessTable>: Policy {
  static var name: String { "adaptive, \(Table.name)" }

  private let capacity: Int
  private var table: Table
  private var queue: Lists
  private var sequences: [Int]
  private var nextSequence = 0
  private var edge = 0
  /// The oldest entry of the window; `edge` alone would need a search here.
  private var firstInWindow: Int?
  /// The entry the hand points at, or the one after it if that is gone; nil behind the newest.
  private var hand: Int?
  private var windowCount = 0
  private var target: Double
  private var inserts = 0
  /// Regrets of one part in a row.
  private var run = (count: 0, part: Part.window)
  /// Evictions from each part, fading.
  private var evictions = [0.0, 0.0]

  private static var lowestTarget: Double { 0.01 }
  private static var firstTarget: Double { 0.10 }
  private static var highestTarget: Double { 0.80 }
  private static var mostSteps: Int { 64 }
  /// A regret moves the target by half an entry, or by this share of the capacity if that is more.
  private static var leastStep: Double { 0.0001 }
  /// So many regrets of one part in a row double the step.
  private static var doubling: Double { 8 }
  private static var mostBoost: Double { 64 }

  init(capacity: Int, keys: Int) {
    self.capacity = capacity
    table = Table(entries: capacity, keys: keys)
    queue = Lists(1, keys: keys)
    sequences = Array(repeating: 0, count: keys)
    target = Self.firstTarget * Double(capacity)
  }

  var count: Int { queue.counts[0] }

  mutating func access(_ request: Request) -> Bool {
    if queue.contains(request.key) {
      var mark = table.mark(of: request.key)
      mark.hit()
      table.setMark(mark, of: request.key)
      return true
    }
    insert(request.key)
    return false
  }

  private mutating func insert(_ key: Int) {
    table.setMark(firstMark(of: key), of: key)
    append(key)
    inserts += 1
    if inserts.isMultiple(of: 8 * capacity) { table.halveFrequencies() }
    // The newest entry never crosses in its own insert: what was just written can be read.
    while Double(windowCount) > target, let x = firstInWindow, x != key {
      cross(x)
      compete(x)
    }
    while count > capacity, let v = victim(sparing: nil) ?? firstInWindow {
      evict(v)
    }
  }

  private mutating func firstMark(of key: Int) -> AccessStats {
    var mark = AccessStats(frequency: 1)
    guard let ghost = table.takeGhost(of: key) else { return mark }
    mark.frequency = min(AccessStats.mostFrequency, 1 + ghost.frequency)
    guard ghost.age <= capacity / 2 else { return mark }
    mark.clock = 1
    regret(ghost.part)
    return mark
  }

  private mutating func regret(_ part: Part) {
    run = (part == run.part ? run.count + 1 : 1, part)
    let ratio = min(64, max(1, evictions[part.other.rawValue] / evictions[part.rawValue]))
    let boost = min(Self.mostBoost, 1 + Double(run.count) / Self.doubling)
    let step = max(0.5, Self.leastStep * Double(capacity)) * ratio * boost
    target = min(
      max(target + (part == .window ? step : -step), Self.lowestTarget * Double(capacity)),
      Self.highestTarget * Double(capacity))
  }

  /// An entry of main that just crossed the edge and the entry under the hand: one of them leaves a full cache.
  private mutating func compete(_ x: Int) {
    let mark = table.mark(of: x)
    while count > capacity {
      guard let v = victim(sparing: x) else { return evict(x, from: .window) }
      guard mark.clock > 0 || mark.frequency > max(1, table.mark(of: v).frequency) else {
        return evict(x, from: .window)
      }
      evict(v)
    }
  }

  /// The first unused entry of main from the hand on, or where the hand is after `mostSteps`.
  private mutating func victim(sparing x: Int?) -> Int? {
    guard var v = main(from: hand, sparing: x) else { return nil }
    var steps = 0
    while steps < Self.mostSteps {
      var mark = table.mark(of: v)
      if mark.clock == 0 { break }
      mark.clock -= 1
      table.setMark(mark, of: v)
      guard let next = main(from: queue.newer(than: v), sparing: x) else { break }
      v = next
      steps += 1
    }
    hand = v
    return v
  }

  /// The first entry of main at or after `key`, wrapping to the oldest, without `x`.
  private func main(from key: Int?, sparing x: Int?) -> Int? {
    if let key, let found = main(at: key, sparing: x) { return found }
    return queue.oldest(of: 0).flatMap { main(at: $0, sparing: x) }
  }

  private func main(at key: Int, sparing x: Int?) -> Int? {
    guard let found = key == x ? queue.newer(than: key) : key else { return nil }
    return sequences[found] < edge ? found : nil
  }

  private mutating func append(_ key: Int) {
    sequences[key] = nextSequence
    queue.append(key, to: 0)
    if firstInWindow == nil { firstInWindow = key }
    if hand == nil { hand = key }
    nextSequence += 1
    windowCount += 1
  }

  private mutating func cross(_ x: Int) {
    edge = sequences[x] + 1
    firstInWindow = queue.newer(than: x)
    windowCount -= 1
  }

  private mutating func evict(_ key: Int) {
    evict(key, from: sequences[key] < edge ? .main : .window)
  }

  private mutating func evict(_ key: Int, from part: Part) {
    table.putGhost(of: key, part: part, frequency: table.mark(of: key).frequency)
    table.removeMark(of: key)
    let fade = 1 - 1 / Double(2 * capacity)
    for index in evictions.indices { evictions[index] *= fade }
    evictions[part.rawValue] += 1
    if sequences[key] >= edge { windowCount -= 1 }
    if firstInWindow == key { firstInWindow = queue.newer(than: key) }
    if hand == key { hand = queue.newer(than: key) }
    queue.remove(key)
  }
}
