/// A queue with a second chance: a used entry moves to the back of the queue instead of being evicted, and counts as unused.
struct CLOCK: Policy {
  static let name = "CLOCK"
  private let capacity: Int
  private var lists: Lists
  private var used: [Bool]

  init(capacity: Int, keys: Int) {
    self.capacity = capacity
    lists = Lists(1, keys: keys)
    used = Array(repeating: false, count: keys)
  }

  var count: Int { lists.counts[0] }

  mutating func access(_ request: Request) -> Bool {
    let key = request.key
    if lists.contains(key) {
      used[key] = true
      return true
    }
    if count == capacity { evict() }
    used[key] = false
    lists.append(key, to: 0)
    return false
  }

  private mutating func evict() {
    while let oldest = lists.removeOldest(of: 0), used[oldest] {
      used[oldest] = false
      lists.append(oldest, to: 0)
    }
  }
}
