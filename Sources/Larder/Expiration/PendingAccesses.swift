import LMDB
import LarderSystem
import Synchronization

/// Access times of entries with a time to idle that are not yet written to disk.
///
/// A hit adds its time and returns. The next write moves the entries' expirations; a timer makes sure that there is one
/// soon. The queue is bounded: an access that does not fit is lost, so that its entry may expire early.
final class PendingAccesses: Sendable {
  static let capacity = 16_384

  struct Use: Sendable {
    var slot: [UInt8]
    /// The version that was read; another version has an expiration of its own.
    var version: UInt64
    var moment: Int64
  }

  private struct Uses {
    var waiting: [[UInt8]: Use] = [:]
    /// Taken by a transaction that is not committed yet.
    var underWay: [[UInt8]: Use] = [:]
    /// When the timer fires, on the monotonic clock; nil if none is set.
    var timer: Int64?
  }
  private let uses = Mutex(Uses())

  var count: Int { uses.withLock { $0.waiting.count } }

  /// Adds an access in place of an earlier one of the same entry.
  ///
  /// - Parameter delay: the milliseconds after which it should be written, if there is no write before.
  /// - Returns: the milliseconds to set a timer for; nil if one is set already.
  func add(_ use: Use, delay: Int64) -> Int64? {
    uses.withLock { uses in
      guard uses.waiting.count < Self.capacity || uses.waiting[use.slot] != nil else { return nil }
      uses.waiting[use.slot] = use
      let delay = uses.waiting.count > Self.capacity / 2 ? 0 : delay
      let end = SystemTime.monotonicMilliseconds + delay
      if let timer = uses.timer, timer <= end { return nil }
      uses.timer = end
      return delay
    }
  }

  /// The next access sets a timer again.
  func timerEnded() { uses.withLock { $0.timer = nil } }

  /// The header with the expiration that follows from an access not yet written.
  func current(_ header: EntryHeader, idle: IdleInterval?, entryKey: [UInt8]) -> EntryHeader {
    guard let idle, let use = pending(entryKey), use.version == header.version else {
      return header
    }
    let end = idle.end(after: use.moment)
    guard end > header.expires else { return header }
    var current = header
    current.expires = end
    current.staleUntil = Lifetime.late(end, stale: header.stale ?? .zero)
    return current
  }

  /// The last access of an entry that is not written yet.
  func pending(_ slot: [UInt8]) -> Use? {
    uses.withLock { $0.waiting[slot] ?? $0.underWay[slot] }
  }

  func take(_ limit: Int) -> [Use] {
    uses.withLock { uses in
      if uses.waiting.isEmpty { return [] }
      let taken = Array(uses.waiting.values.prefix(limit))
      for use in taken {
        uses.waiting[use.slot] = nil
        uses.underWay[use.slot] = use
      }
      return taken
    }
  }

  /// Ends a transaction that took accesses; if it failed they are queued again.
  func finish(_ taken: [Use], done: Bool) {
    if taken.isEmpty { return }
    uses.withLock { uses in
      for use in taken {
        uses.underWay[use.slot] = nil
        if !done, uses.waiting[use.slot] == nil { uses.waiting[use.slot] = use }
      }
    }
  }
}
