/// All items in the order of their insertion: the part `main`, then the window of new items. An item never changes its place.
struct MemoryQueue {
  /// The place before the oldest item and after the newest item.
  static let end = 0

  private struct Node {
    var item: MemoryItem?
    var older: Int
    var newer: Int
    var isMain = false
  }

  private var nodes = [Node(older: end, newer: end)]
  /// The first free node. `newer` of a free node is the next free node.
  private var free = end
  /// The oldest item of the window; ``end`` if the window is empty.
  private(set) var firstInWindow = end
  private(set) var window = MemoryUsage()
  /// The usage of all items: the window and main together.
  private(set) var usage = MemoryUsage()

  var oldest: Int { nodes[Self.end].newer }
  func newer(than place: Int) -> Int { nodes[place].newer }
  func isMain(_ place: Int) -> Bool { nodes[place].isMain }

  subscript(place: Int) -> MemoryItem { nodes[place].item! }

  mutating func append(_ item: MemoryItem) {
    let newest = nodes[Self.end].older
    let node = Node(item: item, older: newest, newer: Self.end)
    var place = free
    if place == Self.end {
      place = nodes.count
      nodes.append(node)
    } else {
      free = nodes[place].newer
      nodes[place] = node
    }
    nodes[newest].newer = place
    nodes[Self.end].older = place
    if firstInWindow == Self.end { firstInWindow = place }
    window += item.usage
    usage += item.usage
    item.place = place
  }

  mutating func replace(_ old: MemoryItem, by new: MemoryItem) {
    let place = old.place
    let difference = MemoryUsage(cost: new.cost - old.cost)
    usage += difference
    if !nodes[place].isMain { window += difference }
    nodes[place].item = new
    new.place = place
    old.place = Self.end
  }

  mutating func remove(_ place: Int) {
    let node = nodes[place]
    guard let item = node.item else { return }
    nodes[node.older].newer = node.newer
    nodes[node.newer].older = node.older
    if firstInWindow == place { firstInWindow = node.newer }
    usage -= item.usage
    if !node.isMain { window -= item.usage }
    nodes[place] = Node(older: Self.end, newer: free)
    free = place
    item.place = Self.end
  }

  /// Makes the oldest item of the window the newest item of main; nil if the window is empty.
  mutating func promote() -> Int? {
    let place = firstInWindow
    if place == Self.end { return nil }
    nodes[place].isMain = true
    firstInWindow = nodes[place].newer
    window -= self[place].usage
    return place
  }

  mutating func removeAll() -> [MemoryItem] {
    let items = nodes.compactMap(\.item)
    for item in items { item.place = Self.end }
    self = MemoryQueue()
    return items
  }
}

/// The ghosts, which remember evicted values. A ghost is kept for a number of evictions: four times the largest number of
/// entries so far. A ghost is a word of 64 bits: 32 bits of the key's hash, 27 bits of the eviction's time, the part and the
/// frequency. A bucket has four words. The table may forget a ghost or, very rarely, confuse two keys, which does little harm.
struct MemoryGhosts {
  private static let clockMask: UInt64 = (1 << 27) - 1
  private static let bucket = 4
  private static let perEntry = 4

  private var words: [UInt64] = []
  /// The largest number of entries so far; at least 16.
  private(set) var entries = 16

  /// Removes and returns the ghost of a key. Nil if the key has no ghost, or a ghost that is too old. `now` counts evictions.
  mutating func take(_ hash: UInt64, at now: UInt64) -> Ghost? {
    let print = Self.print(hash)
    for index in bucket(of: print) where words[index] >> 32 == print {
      let word = words[index]
      let age = age(in: index, at: now)
      words[index] = 0
      guard age < UInt64(Self.perEntry * entries) else { return nil }
      return Ghost(
        age: age, part: word & 1 == 0 ? .window : .main, frequency: UInt32(word >> 1 & 15))
    }
    return nil
  }

  mutating func put(_ hash: UInt64, from part: QueuePart, frequency: UInt32, at now: UInt64) {
    let print = Self.print(hash)
    let word =
      print << 32 | (now & Self.clockMask) << 5 | UInt64(frequency) << 1 | UInt64(part.rawValue)
    place(word, print: print, at: now)
  }

  mutating func grow(to count: Int) {
    guard count > entries || words.isEmpty else { return }
    entries = max(entries, count)
    let needed = (Self.perEntry * entries).nextPowerOfTwo
    guard needed > words.count else { return }
    let old = words
    words = Array(repeating: 0, count: needed)
    for word in old where word != 0 { place(word, print: word >> 32, at: word >> 5) }
  }

  /// Puts a word into a free place of its bucket, or in place of the oldest word.
  private mutating func place(_ word: UInt64, print: UInt64, at now: UInt64) {
    let bucket = bucket(of: print)
    let oldest = bucket.max { age(in: $0, at: now) < age(in: $1, at: now) }
    words[oldest ?? bucket.lowerBound] = word
  }

  /// The number of evictions since a ghost was put into a place; the largest number for a free place.
  private func age(in place: Int, at now: UInt64) -> UInt64 {
    words[place] == 0 ? .max : (now &- (words[place] >> 5)) & Self.clockMask
  }

  private func bucket(of print: UInt64) -> Range<Int> {
    if words.isEmpty { return 0..<0 }
    let first = Int(print) & (words.count / Self.bucket - 1)
    return first * Self.bucket..<(first + 1) * Self.bucket
  }

  /// The bits of a hash that a word contains. The result is never 0, so a used word is never 0.
  private static func print(_ hash: UInt64) -> UInt64 { max(1, hash >> 24 & 0xFFFF_FFFF) }
}

extension Int {
  var nextPowerOfTwo: Int { self <= 1 ? 1 : 1 << (Int.bitWidth - (self - 1).leadingZeroBitCount) }
}
