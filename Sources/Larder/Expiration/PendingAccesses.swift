import LMDB
import LarderSystem
import Synchronization

/// Uses of entries that stay for a while after their last use: what reads have met and no write has put down yet.
///
/// A hit leaves its moment here and goes on. Whoever writes next gives the entries their new ends; a timer sees to it
/// that this is soon. The queue is bounded: what does not fit is used again or ends earlier than it should.
final class PendingAccesses: Sendable {
  static let capacity = 16_384

  struct Use: Sendable {
    var slot: [UInt8]
    /// Of the value that was read: another one has an end of its own.
    var version: UInt64
    var moment: Int64
  }

  private struct Uses {
    var waiting: [[UInt8]: Use] = [:]
    /// In a transaction that has not been committed yet.
    var underWay: [[UInt8]: Use] = [:]
    /// When the timer that was set runs out, on the monotonic clock.
    var timer: Int64?
  }
  private let uses = Mutex(Uses())

  var count: Int { uses.withLock { $0.waiting.count } }

  /// Remembers a use, in place of an earlier one of the same entry.
  ///
  /// - Parameter delay: after how many milliseconds it should be put down, if nobody writes before.
  /// - Returns: for how many to set a timer; nil if one is set already.
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

  /// From now on a use sets a timer of its own.
  func timerEnded() { uses.withLock { $0.timer = nil } }

  /// The last use of an entry that is not put down yet.
  func pending(_ slot: [UInt8]) -> Use? {
    uses.withLock { $0.waiting[slot] ?? $0.underWay[slot] }
  }

  func take(_ limit: Int) -> [Use] {
    uses.withLock { uses in
      let taken = Array(uses.waiting.values.prefix(limit))
      for use in taken {
        uses.waiting[use.slot] = nil
        uses.underWay[use.slot] = use
      }
      return taken
    }
  }

  /// The transaction that took the uses is over; if it failed they wait again.
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
