/// A small LRU window before a segmented LRU, which accepts an entry only if its key was requested more often than the victim's
/// key. Einziger, Friedman, Manes: TinyLFU (ACM Transactions on Storage, 2017). Window 1 %, protected segment 80 % of the rest.
struct WTinyLFU<Climbing: WindowClimbing>: Policy {
  static var name: String { Climbing.policyName }
  private static var window: Int { 0 }
  private static var probation: Int { 1 }
  private static var protected: Int { 2 }

  private let capacity: Int
  private var windowCapacity: Int
  private var protectedCapacity: Int
  private var lists: Lists
  private var sketch: FrequencySketch
  private var climbing: Climbing

  init(capacity: Int, keys: Int) {
    self.capacity = capacity
    windowCapacity = max(1, capacity / 100)
    protectedCapacity = (capacity - windowCapacity) * 8 / 10
    lists = Lists(3, keys: keys)
    sketch = FrequencySketch(capacity: capacity)
    climbing = Climbing(capacity: capacity)
  }

  var count: Int { lists.counts.reduce(0, +) }

  mutating func access(_ request: Request) -> Bool {
    let key = request.key
    sketch.increment(key)
    let hit = lists.contains(key)
    if !hit {
      lists.append(key, to: Self.window)
      shrinkWindow()
    } else if lists.contains(key, in: Self.window) {
      lists.move(key, to: Self.window)
    } else {
      lists.move(key, to: Self.protected)
      shrinkProtected()
    }
    if let change = climbing.change(hit: hit) { resizeWindow(by: change) }
    return hit
  }

  private mutating func shrinkWindow() {
    while lists.counts[Self.window] > windowCapacity, let candidate = lists.oldest(of: Self.window)
    {
      lists.remove(candidate)
      if count < capacity {
        lists.append(candidate, to: Self.probation)
      } else if let victim = lists.oldest(of: Self.probation) ?? lists.oldest(of: Self.protected),
        sketch.frequency(of: candidate) > sketch.frequency(of: victim)
      {
        lists.remove(victim)
        lists.append(candidate, to: Self.probation)
      }
    }
  }

  private mutating func shrinkProtected() {
    while lists.counts[Self.protected] > protectedCapacity,
      let oldest = lists.oldest(of: Self.protected)
    {
      lists.move(oldest, to: Self.probation)
    }
  }

  /// Moves entries between the lists. No entry is evicted.
  private mutating func resizeWindow(by change: Int) {
    let quota = min(max(change, 1 - windowCapacity), protectedCapacity)
    windowCapacity += quota
    protectedCapacity -= quota
    shrinkProtected()
    for _ in 0..<max(0, quota) {
      guard let key = lists.oldest(of: Self.probation) ?? lists.oldest(of: Self.protected) else {
        break
      }
      lists.move(key, to: Self.window)
    }
    while lists.counts[Self.window] > windowCapacity, let key = lists.oldest(of: Self.window) {
      lists.move(key, to: Self.probation)
    }
  }
}
