import Dispatch
import LMDB
import LarderSystem
import Synchronization

/// The times of accesses to entries with a time to idle. The next commits of this process write these times and change the
/// expiries, and a timer makes sure that a commit comes soon. An access without room is lost, so its entry may expire too early.
final class PendingAccesses: Sendable {
  static let capacity = 16_384

  struct Use: Sendable {
    /// The version that was read. A later version of the entry has its own expiration, which this access does not change.
    var version: UInt64
    var moment: Int64
  }

  let queue = PendingQueue<Use>(capacity: capacity)
  private static let longestWait: Int64 = 1000

  private let timerEnd = Mutex<Int64?>(nil)
  private let timer: @Sendable (Duration, @escaping @Sendable () -> Void) -> Void
  private let writer = Mutex<(@Sendable () -> Void)?>(nil)

  init(timer: @escaping @Sendable (Duration, @escaping @Sendable () -> Void) -> Void) {
    self.timer = timer
  }

  func whenDue(_ write: @escaping @Sendable () -> Void) { writer.withLock { $0 = write } }

  /// Records a use of a fresh entry with a time to idle, if the use must change the expiry. Never waits for a writer.
  @inline(never)
  func note(
    _ header: EntryHeader, _ idle: IdleInterval, key: Span<UInt8>, id: NamespaceID, at now: Int64
  ) {
    guard now >= idle.due(end: header.expires), now < header.expires else { return }
    let use = Use(version: header.version, moment: now)
    // The delay ends before the entry expires, even if this access comes a whole time to idle after the previous access.
    let soon = min(idle.milliseconds / 64, (header.expires &- now) / 2, Self.longestWait)
    add(use, for: StoredKey.entry(key, in: id), delay: soon)
  }

  /// Writes the accesses later, because another writer has kept the lock too long.
  func tryAgain() { startTimer(delay: Self.longestWait) }

  /// Adds an access that should be written after `delay` milliseconds or with an earlier commit, if the queue has room.
  func add(_ use: Use, for key: [UInt8], delay: Int64) {
    guard let count = queue.add(use, for: key) else { return }
    startTimer(delay: count > Self.capacity / 2 ? 0 : delay)
  }

  /// Starts a timer, unless an earlier timer is set.
  private func startTimer(delay: Int64) {
    let end = SystemTime.monotonicMilliseconds + delay
    let isEarliest = timerEnd.withLock { timerEnd in
      if let timerEnd, timerEnd <= end { return false }
      timerEnd = end
      return true
    }
    guard isEarliest else { return }
    timer(.milliseconds(delay)) { [weak self] in
      guard let self else { return }
      timerEnd.withLock { $0 = nil }
      writer.withLock { $0 }?()
    }
  }

  func current(_ header: EntryHeader, idle: IdleInterval?, entryKey: [UInt8]) -> EntryHeader {
    guard let idle, let use = queue[entryKey], use.version == header.version else { return header }
    let end = idle.end(after: use.moment)
    guard end > header.expires else { return header }
    var current = header
    current.expires = end
    current.staleUntil = Lifetime.late(end, stale: header.stale ?? .zero)
    return current
  }

  @Sendable static func later(_ delay: Duration, _ body: @escaping @Sendable () -> Void) {
    DispatchQueue.global(qos: .utility).asyncAfter(
      deadline: .now() + .milliseconds(Int(clamping: delay.roundedUpMilliseconds)), execute: body)
  }
}

extension StoreEngine {
  /// The most entries whose expiry one write changes, and the most bytes of their records.
  static let usesPerWrite = (entries: 64, bytes: 256 << 10)
  fileprivate static let usesPerFlush = (entries: 1000, bytes: 8 << 20)

  func writeDueAccessTimes() {
    guard environment.isOpen else { return }
    do throws(LarderError) { try flushAccessTimes() } catch {
      // The accesses stay in the queue. If the error lasts, the next write or the closing can report the error to a caller.
      if error.code == .busy { leftovers.accesses.tryAgain() }
    }
  }

  func flushAccessTimes(lockTimeout: Duration? = nil) throws(LarderError) {
    var left = leftovers.accesses.queue.count
    var tries = 0
    while left > 0, tries < 3 {
      // Without cleanup, because a purge counts the expired entries itself.
      let done = try commit(CommitMode(cleansUp: false, lockTimeout: lockTimeout)) { batch in
        let done = try batch.session.flushAccessTimes(Self.usesPerFlush)
        // Only the second commit after a commit can use the pages that were freed. So the batch commits even without a change.
        if done == 0 { batch.session.forceCommit() }
        return done
      }
      tries = done == 0 ? tries + 1 : 0
      left = min(left - done, leftovers.accesses.queue.count)
    }
  }
}

extension WriteSession {
  /// Changes the expiries of used entries; returns the number of entries that were looked up. If an entry was used before its
  /// expiry, but has expired before this batch, the entry becomes fresh again, provided that the entry was not removed.
  @discardableResult
  mutating func flushAccessTimes(_ most: (entries: Int, bytes: Int)) throws(LarderError) -> Int {
    let taken = engine.leftovers.accesses.queue.take(most.entries)
    if taken.isEmpty { return 0 }
    effects.accesses += taken
    var size = 0
    var done = 0
    while done < taken.count, size < most.bytes {
      guard let written = try flush(taken[done].item, of: taken[done].key) else { break }
      size += written
      done += 1
    }
    effects.accesses.removeLast(taken.count - done)
    engine.leftovers.accesses.queue.requeue(taken[done...])
    return done
  }

  /// - Returns: the number of written bytes; nil if the disk limit leaves too few pages for the entry in this batch.
  private mutating func flush(
    _ use: PendingAccesses.Use, of key: [UInt8]
  ) throws(LarderError) -> Int? {
    guard case .entry(let entry) = try contents(of: key),
      entry.header.version == use.version, try isLive(entry.id)
    else { return 0 }
    guard hasPages(forCopyOf: entry) else { return nil }
    budget.disk?.spend(pages: 0, stored: min(entry.recordCount, engine.pageSize))
    return try extend(entry, accessedAt: min(use.moment, now.milliseconds)) ? entry.recordCount : 0
  }
}
