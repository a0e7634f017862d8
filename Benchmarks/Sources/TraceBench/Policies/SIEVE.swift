/// A queue in which no entry moves. A hand passes entries that were used after its last pass, and evicts the first unused entry.
///
/// Zhang, Yang, Yue, Vigfusson, Rashmi: SIEVE is Simpler than LRU (NSDI 2024).
struct SIEVE: Policy {
  static let name = "SIEVE"
  private let capacity: Int
  private var lists: Lists
  private var used: [Bool]
  private var hand: Int?

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
    guard var victim = hand ?? lists.oldest(of: 0) else { return }
    while used[victim] {
      used[victim] = false
      guard let next = lists.newer(than: victim) ?? lists.oldest(of: 0) else { return }
      victim = next
    }
    hand = lists.newer(than: victim)
    lists.remove(victim)
  }
}
