/// All items in the order in which they came, the oldest first: main, then the window. Every operation is O(1).
///
/// A place is a number that belongs to an item until it is removed, and to another item afterwards.
struct MemoryQueue {
  /// The place in front of the oldest and behind the newest.
  static let end = 0

  private struct Node {
    var item: MemoryItem?
    var older: Int
    var newer: Int
    var isMain = false
  }

  private var nodes = [Node(older: end, newer: end)]
  /// Free nodes, each naming the next as its `newer`.
  private var free = end
  /// The oldest of the window; ``end`` if the window is empty.
  private(set) var firstInWindow = end
  private(set) var window = MemoryUsage()
  private(set) var main = MemoryUsage()

  var usage: MemoryUsage { window + main }
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
    window += MemoryUsage(cost: item.cost, entries: 1)
    item.place = place
  }

  /// Gives another value of the same key the place of the old one.
  mutating func replace(_ old: MemoryItem, by new: MemoryItem) {
    let place = old.place
    let difference = MemoryUsage(cost: new.cost - old.cost)
    if nodes[place].isMain { main += difference } else { window += difference }
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
    let usage = MemoryUsage(cost: item.cost, entries: 1)
    if node.isMain { main -= usage } else { window -= usage }
    nodes[place] = Node(older: Self.end, newer: free)
    free = place
    item.place = Self.end
  }

  /// Makes the oldest of the window the newest of main; nil if the window is empty.
  mutating func promote() -> Int? {
    let place = firstInWindow
    if place == Self.end { return nil }
    nodes[place].isMain = true
    firstInWindow = nodes[place].newer
    let usage = MemoryUsage(cost: self[place].cost, entries: 1)
    window -= usage
    main += usage
    return place
  }

  /// Takes everything out.
  mutating func removeAll() -> [MemoryItem] {
    let items = nodes.compactMap(\.item)
    for item in items { item.place = Self.end }
    self = MemoryQueue()
    return items
  }
}
