import LarderSystem
import Synchronization

/// Work that reads leave to the next commits of this process: one item for each key. If the queue is full, a new item is lost.
final class PendingQueue<Item: Sendable>: Sendable {
  private struct Items {
    var waiting: [[UInt8]: Item] = [:]
    /// Items that a transaction has taken and that are not committed yet.
    var underWay: [[UInt8]: Item] = [:]
  }
  private let items = Mutex(Items())
  private let capacity: Int
  private let full = Atomic(false)

  init(capacity: Int) { self.capacity = capacity }

  var isFull: Bool { full.load(ordering: .relaxed) }

  var count: Int { items.withLock { $0.waiting.count } }

  /// Whether no item waits and no transaction has taken items. If so, a new read sees the effects of all items.
  var isEmpty: Bool { items.withLock { $0.waiting.isEmpty && $0.underWay.isEmpty } }

  subscript(key: [UInt8]) -> Item? { items.withLock { $0.waiting[key] ?? $0.underWay[key] } }

  /// Adds an item, or replaces the item of the same key. Returns the number of waiting items; nil if there is no room.
  func add(_ item: Item, for key: [UInt8]) -> Int? {
    items.withLock { items in
      guard items.waiting.count < capacity || items.waiting[key] != nil else { return nil }
      items.waiting[key] = item
      full.store(items.waiting.count >= capacity, ordering: .relaxed)
      return items.waiting.count
    }
  }

  /// Takes items for a transaction. After the transaction the caller calls ``confirm(_:)`` or ``requeue(_:)``.
  func take(_ limit: Int) -> [(key: [UInt8], item: Item)] {
    items.withLock { items in
      if items.waiting.isEmpty { return [] }
      let taken = items.waiting.prefix(limit).map { (key: $0.key, item: $0.value) }
      for (key, item) in taken {
        items.waiting[key] = nil
        items.underWay[key] = item
      }
      full.store(items.waiting.count >= capacity, ordering: .relaxed)
      return taken
    }
  }

  func confirm(_ taken: [(key: [UInt8], item: Item)]) {
    if taken.isEmpty { return }
    items.withLock { items in for (key, _) in taken { items.underWay[key] = nil } }
  }

  /// After a rollback, makes the items of the transaction wait again, but not an item whose key has got a newer item.
  func requeue(_ taken: ArraySlice<(key: [UInt8], item: Item)>) {
    if taken.isEmpty { return }
    items.withLock { items in
      for (key, item) in taken {
        items.underWay[key] = nil
        if items.waiting[key] == nil { items.waiting[key] = item }
      }
      full.store(items.waiting.count >= capacity, ordering: .relaxed)
    }
  }
}

/// Expired entries with their versions, found by reads. The next commits of this process remove these entries. Before a count,
/// statistics or the closing of the store, such a commit is made. If the queue is full, a further entry waits for the next purge.
final class PendingExpirations: Sendable {
  static let capacity = 4096

  let queue = PendingQueue<UInt64>(capacity: capacity)
  /// Hashes of the waiting entries. A reader that finds such an entry again neither copies the key nor takes the lock.
  private let places = AtomicWords(count: 1024)

  func enqueue(_ key: Span<UInt8>, in id: NamespaceID, _ version: UInt64) {
    if queue.isFull { return }
    let place = Checksum.keyHash(of: key, in: id) &+ version
    let index = Int(truncatingIfNeeded: place & 1023)
    if places[index] == place { return }
    // The place is set first. A place that is set after a batch has taken the key would stay set and hide the key later.
    places[index] = place
    _ = queue.add(version, for: StoredKey.entry(key, in: id))
  }

  func take(_ limit: Int) -> [(key: [UInt8], item: UInt64)] {
    let taken = queue.take(limit)
    if taken.isEmpty { return [] }
    for index in 0..<places.count where places[index] != 0 { places[index] = 0 }
    return taken
  }
}
