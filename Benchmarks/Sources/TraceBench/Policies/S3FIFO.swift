/// Three queues: a small queue of new keys, a main queue with a two-bit clock, and ghosts (keys evicted from the small queue).
///
/// Yang, Zhang, Qiu, Yue, Rashmi: FIFO Queues Are All You Need for Cache Eviction (SOSP 2023), in the authors' present version:
/// the small queue has 10 % of the capacity, ghosts have 90 %, and two uses promote a key. While the cache is not full, new
/// keys fill the main queue.
struct S3FIFO: Policy {
  static let name = "S3-FIFO"
  private static let small = 0
  private static let main = 1
  private static let ghosts = 2

  private let capacity: Int
  private let smallCapacity: Int
  private let ghostCapacity: Int
  private var lists: Lists
  private var uses: [UInt8]
  private var hasEvicted = false

  init(capacity: Int, keys: Int) {
    self.capacity = capacity
    smallCapacity = max(1, capacity / 10)
    ghostCapacity = capacity * 9 / 10
    lists = Lists(3, keys: keys)
    uses = Array(repeating: 0, count: keys)
  }

  var count: Int { lists.counts[Self.small] + lists.counts[Self.main] }

  mutating func access(_ request: Request) -> Bool {
    let key = request.key
    let wasGhost = lists.contains(key, in: Self.ghosts)
    if lists.contains(key) && !wasGhost {
      uses[key] = min(3, uses[key] + 1)
      return true
    }
    if wasGhost { lists.remove(key) }
    while count >= capacity { evict() }
    let smallIsFull = lists.counts[Self.small] >= smallCapacity
    uses[key] = 0
    lists.append(key, to: wasGhost || (!hasEvicted && smallIsFull) ? Self.main : Self.small)
    return false
  }

  private mutating func evict() {
    hasEvicted = true
    if lists.counts[Self.main] > capacity - smallCapacity || lists.counts[Self.small] == 0 {
      evictFromMain()
    } else {
      evictFromSmall()
    }
  }

  private mutating func evictFromSmall() {
    while let oldest = lists.removeOldest(of: Self.small) {
      if uses[oldest] < 2 {
        if lists.counts[Self.ghosts] == ghostCapacity { _ = lists.removeOldest(of: Self.ghosts) }
        if ghostCapacity > 0 { lists.append(oldest, to: Self.ghosts) }
        return
      }
      uses[oldest] = 0
      lists.append(oldest, to: Self.main)
    }
  }

  private mutating func evictFromMain() {
    while let oldest = lists.removeOldest(of: Self.main), uses[oldest] > 0 {
      uses[oldest] -= 1
      lists.append(oldest, to: Self.main)
    }
  }
}
