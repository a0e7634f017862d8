/// Belady's MIN, which may also decline to store an entry. OPT knows all future requests, so no policy can have more hits.
struct OPT: Policy {
  static let name = "OPT"
  private let capacity: Int
  private var cached: [Bool]
  private(set) var count = 0
  private var position = 0
  /// The next request and the key of every cached entry, the farthest request first. The heap also holds past requests. A past
  /// request is nearer than the next request of any cached entry, so no past request is ever at the top.
  private var heap: [UInt64] = []

  init(capacity: Int, keys: Int) {
    self.capacity = capacity
    cached = Array(repeating: false, count: keys)
  }

  mutating func access(_ request: Request) -> Bool {
    let key = request.key
    let hit = cached[key]
    if hit {
      cached[key] = false
      count -= 1
    }
    if request.next != Request.never {
      cached[key] = true
      count += 1
      push(UInt64(request.next) << 32 | UInt64(key))
      if count > capacity {
        cached[Int(heap[0] & 0xffff_ffff)] = false
        count -= 1
        popFarthest()
      }
    }
    position += 1
    if heap.count > 4 * capacity + 64 { dropPassed() }
    return hit
  }

  private mutating func dropPassed() {
    heap.removeAll { $0 >> 32 < UInt64(position) }
    heap.sort(by: >)
  }

  private mutating func push(_ item: UInt64) {
    heap.append(item)
    var child = heap.count - 1
    while child > 0 {
      let parent = (child - 1) / 2
      if heap[parent] >= item { break }
      heap[child] = heap[parent]
      child = parent
    }
    heap[child] = item
  }

  private mutating func popFarthest() {
    let item = heap.removeLast()
    if heap.isEmpty { return }
    var parent = 0
    while 2 * parent + 1 < heap.count {
      var child = 2 * parent + 1
      if child + 1 < heap.count && heap[child + 1] > heap[child] { child += 1 }
      if heap[child] <= item { break }
      heap[parent] = heap[child]
      parent = child
    }
    heap[parent] = item
  }
}
