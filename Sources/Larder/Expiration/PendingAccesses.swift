import Dispatch
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
  /// The longest that an access waits for a write, in milliseconds.
  private static let longestWait: Int64 = 1000

  private let uses = Mutex(Uses())
  private let timer: @Sendable (Duration, @escaping @Sendable () -> Void) -> Void
  private let writer = Mutex<(@Sendable () -> Void)?>(nil)

  /// - Parameter timer: runs a closure once, after a duration.
  init(timer: @escaping @Sendable (Duration, @escaping @Sendable () -> Void) -> Void) {
    self.timer = timer
  }

  /// Sets what writes the accesses when the timer ends.
  func whenDue(_ write: @escaping @Sendable () -> Void) { writer.withLock { $0 = write } }

  var count: Int { uses.withLock { $0.waiting.count } }

  /// Records a hit of an entry with a time to idle. Never waits for a writer.
  @inline(never)
  func note(
    _ header: EntryHeader, _ idle: IdleInterval, key: Span<UInt8>, id: NamespaceID, at now: Int64
  ) {
    guard now >= idle.due(end: header.expires) else { return }
    let use = Use(slot: StoredKey.entry(key, in: id), version: header.version, moment: now)
    // Before the entry expires, and early enough for an access after a whole interval.
    let soon = min(idle.milliseconds / 64, max(0, header.expires &- now) / 2, Self.longestWait)
    guard let delay = add(use, delay: soon) else { return }
    timer(.milliseconds(delay)) { [weak self] in self?.timerEnded() }
  }

  private func timerEnded() {
    // The next access sets a timer again.
    uses.withLock { $0.timer = nil }
    writer.withLock { $0 }?()
  }

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

  /// Runs a closure once, on a thread of the system.
  @Sendable static func later(_ delay: Duration, _ body: @escaping @Sendable () -> Void) {
    DispatchQueue.global(qos: .utility).asyncAfter(
      deadline: .now() + .milliseconds(Int(clamping: delay.milliseconds)), execute: body)
  }
}
