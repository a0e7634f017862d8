import Synchronization

/// A lock in a word of a table. Threads and processes hold it for a few hundred nanoseconds.
///
/// The upper 48 bits of the word rise with each owner. The low 16 bits are the slot of the process that owns the lock, or 0 if
/// the lock is free. So a waiter can tell a killed owner from a slow owner, and takes the lock of a killed owner.
package final class SharedLock: Sendable {
  private let slots: ProcessSlots
  private let place: Int
  /// One thread waits at a time. The others sleep here, so that the owner gets a processor.
  private let turn = Mutex(())

  private static let slotMask: UInt64 = 0xFFFF
  private static let spins = 200

  package init(_ slots: ProcessSlots, place: Int) {
    self.slots = slots
    self.place = place
  }

  private var slot: UInt64 { UInt64(slots.own) }

  /// Releases the lock if an earlier process with this slot was killed while it owned the lock.
  package func recover(_ view: borrowing SharedTable.View) {
    let word = view.acquire(place)
    guard view.isWritable else { return }
    if word & Self.slotMask == slot {
      _ = view.exchange(word, for: word & ~Self.slotMask, at: place)
    }
  }

  /// Runs `body` with the lock; nil if the lock does not become free in time, or if the table may not be written.
  @inline(__always)
  package func withLock<Result, Failure: Error>(
    _ view: borrowing SharedTable.View, waitingAtMost timeout: Duration,
    _ body: (borrowing SharedTable.View) throws(Failure) -> Result
  ) throws(Failure) -> Result? {
    guard view.isWritable, let word = take(view, timeout) else { return nil }
    defer { _ = view.exchange(word, for: word & ~Self.slotMask, at: place) }
    return try body(view)
  }

  /// The word of the new owner; nil after `timeout`.
  @inline(__always)
  private func take(_ view: borrowing SharedTable.View, _ timeout: Duration) -> UInt64? {
    let word = view.acquire(place)
    if word & Self.slotMask == 0 {
      let mine = own(word)
      if view.exchange(word, for: mine, at: place) { return mine }
    }
    return turn.withLock { _ in wait(view, timeout) }
  }

  private func own(_ word: UInt64) -> UInt64 { ((word &>> 16) &+ 1) &<< 16 | slot }

  @inline(never)
  private func wait(_ view: borrowing SharedTable.View, _ timeout: Duration) -> UInt64? {
    var deadline: ContinuousClock.Instant?
    var tries = 0
    while true {
      let word = view.acquire(place)
      let owner = word & Self.slotMask
      tries += 1
      let isSlow = tries > Self.spins
      if owner == 0 || isSlow && !slots.isAlive(Int(owner)) {
        let mine = own(word)
        if view.exchange(word, for: mine, at: place) { return mine }
        continue
      }
      guard isSlow else { continue }
      let now = ContinuousClock.now
      if let deadline, now > deadline { return nil }
      deadline = deadline ?? now + timeout
      backOff(microseconds: 20)
    }
  }
}
