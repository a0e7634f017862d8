import Synchronization

/// Removals that reads have asked for: entries whose time had come when a read met them.
///
/// Whoever writes next carries them out, and only if the entry is still expired then; counting, statistics and closing
/// see to them first. The queue is bounded: what does not fit waits for the purge.
final class RemovalQueue: Sendable {
  static let capacity = 4096

  private struct Keys {
    var asked: Set<[UInt8]> = []
    /// In a transaction that has not been committed yet.
    var underWay: Set<[UInt8]> = []
  }
  private let keys = Mutex(Keys())

  /// `entry` is the entry's key in the main database.
  func ask(_ entry: [UInt8]) {
    keys.withLock { keys in
      if keys.asked.count < Self.capacity { keys.asked.insert(entry) }
    }
  }

  /// Whether nothing waits and nothing is under way: what was asked for is then visible to every new read.
  var isEmpty: Bool { keys.withLock { $0.asked.isEmpty && $0.underWay.isEmpty } }

  func take(_ limit: Int) -> [[UInt8]] {
    keys.withLock { keys in
      let taken = Array(keys.asked.prefix(limit))
      keys.asked.subtract(taken)
      keys.underWay.formUnion(taken)
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
