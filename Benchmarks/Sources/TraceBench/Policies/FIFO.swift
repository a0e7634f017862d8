/// Evicts the entry that was written first.
struct FIFO: Policy {
  static let name = "FIFO"
  private let capacity: Int
  private var lists: Lists

  init(capacity: Int, keys: Int) {
    self.capacity = capacity
    lists = Lists(1, keys: keys)
  }

  var count: Int { lists.counts[0] }

  mutating func access(_ request: Request) -> Bool {
    if lists.contains(request.key) { return true }
    if count == capacity { _ = lists.removeOldest(of: 0) }
    lists.append(request.key, to: 0)
    return false
  }
}
