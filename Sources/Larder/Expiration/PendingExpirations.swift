import LMDB
import LarderSystem

/// Expired entries that reads have found, to be removed by the next write if they are still expired then.
///
/// Counting, statistics and closing remove them first. A purge removes those that found no room.
final class PendingExpirations: Sendable {
  static let capacity = 4096

  /// By the keys of the entries.
  let queue = PendingQueue<[UInt8], Void>(capacity: capacity)
  /// Hashes of waiting keys, by their last bits: a reader that finds the same expired entry again neither copies its key nor
  /// takes the lock.
  private let places = AtomicWords(count: 1024)

  @inline(__always)
  private static func index(_ place: UInt64) -> Int { Int(truncatingIfNeeded: place & 1023) }

  /// Asks for the removal of the entry under `key`.
  func enqueue(_ key: Span<UInt8>, in id: NamespaceID) {
    if queue.isFull { return }
    let place = Checksum.keyHash(of: key, in: id)
    if places[Self.index(place)] == place { return }
    // Before the key waits: the batch that takes the key then clears its place, which would else hide the next such entry.
    places[Self.index(place)] = place
    _ = queue.add((), for: StoredKey.entry(key, in: id))
  }

  func take(_ limit: Int) -> [(key: [UInt8], item: Void)] {
    let taken = queue.take(limit)
    if taken.isEmpty { return [] }
    for index in 0..<places.count where places[index] != 0 { places[index] = 0 }
    return taken
  }
}
