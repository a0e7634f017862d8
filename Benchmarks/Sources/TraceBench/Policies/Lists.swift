/// Doubly linked lists of keys. A key is in at most one list. The time of every function except `init` is O(1).
struct Lists {
  private var newer: [Int32]
  private var older: [Int32]
  private var lists: [UInt8]
  private(set) var counts: [Int]
  private let keys: Int

  private static let none = UInt8.max

  /// The node `keys + i` joins the ends of list `i`, so that the list is a ring.
  init(_ count: Int, keys: Int) {
    self.keys = keys
    newer = (0..<Int32(keys + count)).map { $0 }
    older = newer
    lists = Array(repeating: Self.none, count: keys)
    counts = Array(repeating: 0, count: count)
  }

  func contains(_ key: Int) -> Bool { lists[key] != Self.none }

  func contains(_ key: Int, in list: Int) -> Bool { lists[key] == UInt8(list) }

  func oldest(of list: Int) -> Int? { entry(newer[keys + list]) }

  /// The entry after `key` in its list; nil for the newest entry.
  func newer(than key: Int) -> Int? { entry(newer[key]) }

  mutating func append(_ key: Int, to list: Int) {
    let ring = keys + list
    let last = older[ring]
    newer[Int(last)] = Int32(key)
    older[key] = last
    newer[key] = Int32(ring)
    older[ring] = Int32(key)
    lists[key] = UInt8(list)
    counts[list] += 1
  }

  mutating func remove(_ key: Int) {
    newer[Int(older[key])] = newer[key]
    older[Int(newer[key])] = older[key]
    counts[Int(lists[key])] -= 1
    lists[key] = Self.none
  }

  mutating func move(_ key: Int, to list: Int) {
    remove(key)
    append(key, to: list)
  }

  mutating func removeOldest(of list: Int) -> Int? {
    guard let key = oldest(of: list) else { return nil }
    remove(key)
    return key
  }

  private func entry(_ node: Int32) -> Int? { Int(node) < keys ? Int(node) : nil }
}
