import LMDB
import LarderSystem
import Synchronization

/// Removals that reads have asked for: entries whose time had come when a read met them.
///
/// Whoever writes next carries them out, and only if the entry is still expired then; counting, statistics and closing
/// see to them first. The queue is bounded: what does not fit waits for the purge.
final class PendingExpirations: Sendable {
  static let capacity = 4096

  private struct Keys {
    var asked: Set<[UInt8]> = []
    /// In a transaction that has not been committed yet.
    var underWay: Set<[UInt8]> = []
  }
  private let keys = Mutex(Keys())
  private let isFull = Atomic(false)
  /// Places of keys that wait, by their last bits, so that a reader that meets the same expired entry again neither
  /// copies its key nor comes to the lock. Changed under the lock; whatever stands here waits.
  private let places = AtomicWords(count: 1024)

  @inline(__always)
  private static func index(_ place: UInt64) -> Int { Int(truncatingIfNeeded: place & 1023) }

  /// The entry under `key` is to be removed.
  func enqueue(_ key: Span<UInt8>, in id: NamespaceID) {
    if isFull.load(ordering: .relaxed) { return }
    let place = Checksum.place(of: key, in: id)
    if places[Self.index(place)] == place { return }
    let entry = StoredKey.entry(key, in: id)
    keys.withLock { keys in
      if keys.asked.count >= Self.capacity { return }
      keys.asked.insert(entry)
      places[Self.index(place)] = place
      isFull.store(keys.asked.count >= Self.capacity, ordering: .relaxed)
    }
  }

  /// Whether nothing waits and nothing is under way: what was asked for is then visible to every new read.
  var isEmpty: Bool { keys.withLock { $0.asked.isEmpty && $0.underWay.isEmpty } }

  func take(_ limit: Int) -> [[UInt8]] {
    keys.withLock { keys in
      let taken = Array(keys.asked.prefix(limit))
      if taken.isEmpty { return [] }
      keys.asked.subtract(taken)
      keys.underWay.formUnion(taken)
      for index in 0..<places.count where places[index] != 0 { places[index] = 0 }
      isFull.store(keys.asked.count >= Self.capacity, ordering: .relaxed)
      return taken
    }
  }

  /// The transaction that took the removals is over; if it failed they wait again.
  func finish(_ taken: [[UInt8]], done: Bool) {
    if taken.isEmpty { return }
    keys.withLock { keys in
      keys.underWay.subtract(taken)
      if !done { keys.asked.formUnion(taken) }
    }
  }
}
