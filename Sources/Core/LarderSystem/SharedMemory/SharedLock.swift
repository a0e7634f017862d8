import Synchronization

/// A lock between threads and processes, in one word of a shared table. An owner holds the lock for a few hundred nanoseconds.
///
/// The upper 48 bits of the word count how often the lock was taken. The lower 16 bits are the number of the owner's process
/// (``ProcessSlots``), or 0 if the lock is free. After a long wait, a thread takes the lock of a process that was killed.
package final class SharedLock: Sendable {
  private let slots: ProcessSlots
  private let place: Int
  /// The waiting threads of a process take turns: one thread polls the word, and the others sleep here. If all threads polled, a
  /// transaction could find the word free too rarely beside threads that append all the time.
  private let turn = Mutex(())

  private static let slotMask: UInt64 = 0xFFFF
  private static let spins = 200
  /// The longest turn, so that threads with a shorter time limit do not sleep until the end of a longer limit.
  private static let longestTurn = Duration.milliseconds(2)

  package init(_ slots: ProcessSlots, place: Int) {
    self.slots = slots
    self.place = place
  }

  private var slot: UInt64 { UInt64(slots.own) }

  /// Releases a lock that a killed process with the number (slot) of this process has left. Called before the first ``withLock``.
  package func recover(_ view: borrowing SharedTable.View) {
    guard view.isWritable, slots.isNew.exchange(false, ordering: .relaxed) else { return }
    let word = view.acquire(place)
    if word & Self.slotMask == slot {
      _ = view.exchange(word, for: word & ~Self.slotMask, at: place)
    }
  }

  /// Runs `body` with the lock. Returns nil if the lock is not free within `timeout`, or if the table may not be written.
  @inline(__always)
  package func withLock<Result, Failure: Error>(
    _ view: borrowing SharedTable.View, waitingAtMost timeout: Duration,
    _ body: (borrowing SharedTable.View) throws(Failure) -> Result
  ) throws(Failure) -> Result? {
    guard view.isWritable, let word = take(view, timeout) else { return nil }
    defer { _ = view.exchange(word, for: word & ~Self.slotMask, at: place) }
    return try body(view)
  }

  /// Takes the lock and returns its word with the new owner; nil after `timeout`.
  @inline(__always)
  private func take(_ view: borrowing SharedTable.View, _ timeout: Duration) -> UInt64? {
    let word = view.acquire(place)
    if word & Self.slotMask == 0 {
      let mine = own(word)
      if view.exchange(word, for: mine, at: place) { return mine }
    }
    return takeInTurn(view, until: SuspendingClock.now + timeout)
  }

  @inline(never)
  private func takeInTurn(
    _ view: borrowing SharedTable.View, until deadline: SuspendingClock.Instant
  ) -> UInt64? {
    while true {
      let end = min(deadline, SuspendingClock.now + Self.longestTurn)
      if let mine = turn.withLock({ _ in wait(view, until: end) }) { return mine }
      if SuspendingClock.now >= deadline { return nil }
      backOff(microseconds: 20)
    }
  }

  private func own(_ word: UInt64) -> UInt64 { ((word &>> 16) &+ 1) &<< 16 | slot }

  private func wait(
    _ view: borrowing SharedTable.View, until deadline: SuspendingClock.Instant
  ) -> UInt64? {
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
      if SuspendingClock.now > deadline { return nil }
      backOff(microseconds: 20)
    }
  }
}
