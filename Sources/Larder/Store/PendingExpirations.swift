import LMDB
import LarderSystem
import Synchronization

/// Expired entries that reads have found, to be removed by the next write if they are still expired then.
///
/// Counting, statistics and closing remove them first. The queue is bounded: a purge removes what did not fit.
final class PendingExpirations: Sendable {
  static let capacity = 4096

  private struct Keys {
    var asked: Set<[UInt8]> = []
    /// Taken by a transaction that is not committed yet.
    var underWay: Set<[UInt8]> = []
  }
  private let keys = Mutex(Keys())
  private let isFull = Atomic(false)
  /// Hashes of waiting keys, by their last bits: a reader that finds the same expired entry again neither copies its key nor
  /// takes the lock. Changed under the lock.
  private let places = AtomicWords(count: 1024)

  @inline(__always)
  private static func index(_ place: UInt64) -> Int { Int(truncatingIfNeeded: place & 1023) }

  /// Asks for the removal of the entry under `key`.
  func enqueue(_ key: Span<UInt8>, in id: NamespaceID) {
    if isFull.load(ordering: .relaxed) { return }
    let place = Checksum.keyHash(of: key, in: id)
    if places[Self.index(place)] == place { return }
    let entry = StoredKey.entry(key, in: id)
    keys.withLock { keys in
      if keys.asked.count >= Self.capacity { return }
      keys.asked.insert(entry)
      places[Self.index(place)] = place
      isFull.store(keys.asked.count >= Self.capacity, ordering: .relaxed)
    }
  }

  /// Whether nothing waits and no transaction has taken anything: then every new read sees all removals.
  var isEmpty: Bool { keys.withLock { $0.asked.isEmpty && $0.underWay.isEmpty } }

  func take(_ limit: Int) -> [[UInt8]] {
    keys.withLock { keys in
      if keys.asked.isEmpty { return [] }
      let taken = Array(keys.asked.prefix(limit))
      keys.asked.subtract(taken)
      keys.underWay.formUnion(taken)
      for index in 0..<places.count where places[index] != 0 { places[index] = 0 }
      isFull.store(keys.asked.count >= Self.capacity, ordering: .relaxed)
      return taken
    }
  }

  /// Ends the transaction that took these removals; if it failed, they wait again.
  func finish(_ taken: [[UInt8]], done: Bool) {
    if taken.isEmpty { return }
    keys.withLock { keys in
      keys.underWay.subtract(taken)
      if !done { keys.asked.formUnion(taken) }
    }
  }
}
