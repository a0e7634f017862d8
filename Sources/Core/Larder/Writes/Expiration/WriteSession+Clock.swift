import LMDB
import LarderSystem

/// How a write decides whether to trust the wall clock, which may have been wrong for a moment.
extension WriteSession {
  private static let mostAhead: Int64 = 86_400_000
  private static let doubtTime: Int64 = 60_000

  /// Whether the wall clock is at most a day after the last recorded time. Time that passed in this process does not count.
  var isClockPlausible: Bool { isPlausible(now) }

  private func isPlausible(_ now: Timestamp) -> Bool {
    let recorded = ledger.store.lastStamp
    let lastStamp = Timestamp(milliseconds: Int64(clamping: recorded))
    let gap = lastStamp.duration(to: now).roundedUpMilliseconds
    if recorded == 0 || gap <= Self.mostAhead { return true }
    // If this process's monotonic clock has also advanced during a part of the gap, that part is no jump. The store's clock may
    // go back, although the contract of a program's own clock forbids that. So negative times count as 0.
    let opened = engine.opened
    let sinceOpening = max(0, monotonic &- opened.monotonic.roundedUpMilliseconds)
    let sinceStamp = opened.now.duration(to: lastStamp).roundedUpMilliseconds
    return gap - max(0, sinceOpening - max(0, sinceStamp)) <= Self.mostAhead
  }

  private var monotonic: Int64 { engine.clock.monotonic.roundedUpMilliseconds }

  /// Records the time of a write. An implausible time is not recorded: a write must not confirm a clock that has jumped.
  mutating func recordWriteTime() { recordWrite(at: now) }

  mutating func recordWrite(at time: Timestamp) {
    if !ledger.hasRecorded(time), isPlausible(time) { ledger.recordTime(time) }
  }

  /// Whether a purge may trust the wall clock: the clock is plausible, or was first found not plausible at least a minute ago.
  mutating func recordPurgeTime() -> Bool {
    let since = Int64(clamping: ledger.store.suspectSince) - 1
    if isClockPlausible
      || since >= 0 && monotonic >= since && monotonic - since >= Self.doubtTime
    {
      ledger.recordTime(now)
      return true
    }
    // The stored time is larger by one, because 0 means that the clock is trusted. A restart of the machine resets the
    // monotonic clock; then the minute begins again.
    if since < 0 || monotonic < since {
      let stored = UInt64(clamping: monotonic) &+ 1
      ledger.updateStore { $0.suspectSince = stored }
    }
    return false
  }
}
