/// Evicts the entry whose last use is the oldest.
struct LRU: Policy {
  static let name = "LRU"
  private let capacity: Int
  private var lists: Lists

  init(capacity: Int, keys: Int) {
    self.capacity = capacity
    lists = Lists(1, keys: keys)
  }

  var count: Int { lists.counts[0] }

  mutating func access(_ request: Request) -> Bool {
    let hit = lists.contains(request.key)
    if hit {
      lists.remove(request.key)
    } else if count == capacity {
      _ = lists.removeOldest(of: 0)
    }
    lists.append(request.key, to: 0)
    return hit
  }
}
