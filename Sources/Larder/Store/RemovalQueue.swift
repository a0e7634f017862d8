import Synchronization

/// Removals that reads have asked for: entries whose time had come when a read met them.
///
/// Whoever writes next carries them out, and only if the entry is still expired then; counting, statistics and closing
/// see to them first. The queue is bounded: what does not fit waits for the purge.
final class RemovalQueue: Sendable {
  static let capacity = 4096

  private let keys = Mutex<Set<[UInt8]>>([])

  /// `entry` is the entry's key in the main database.
  func ask(_ entry: [UInt8]) {
    keys.withLock { keys in
      if keys.count < Self.capacity { keys.insert(entry) }
    }
  }

  var isEmpty: Bool { keys.withLock { $0.isEmpty } }

  func take(_ limit: Int) -> [[UInt8]] {
    keys.withLock { keys in
      let taken = Array(keys.prefix(limit))
      keys.subtract(taken)
      return taken
    }
  }
}
