import LarderSystem

/// A store's clock, with the cheap time that reads use.
struct StoreClock: LarderClock {
  let source: any LarderClock
  /// Whether ``source`` is the system's, which reads get without the protocol.
  let isSystem: Bool

  init(_ source: any LarderClock) {
    self.source = source
    isSystem = source is SystemClock
  }

  var now: Timestamp { source.now }
  var monotonic: Duration { source.monotonic }

  func sleep(until moment: Duration) async throws { try await source.sleep(until: moment) }

  /// Milliseconds since 1970; the system's may be up to 10 behind.
  @inline(__always)
  var coarseNow: Int64 {
    isSystem ? SystemTime.coarseMilliseconds : source.now.milliseconds
  }

  /// Minutes since 1970.
  var coarseMinute: Int64 { coarseNow / 60_000 }

  /// The state of an entry at ``coarseNow``, which decides unless the deadline is so near that it could be wrong.
  @inline(__always)
  func state(of header: EntryHeader, at coarse: Int64) -> Store.Entry.State {
    if header.expires == EntryHeader.never { return .fresh }
    // The exact time is not earlier.
    if coarse >= header.staleUntil { return .expired }
    if isSystem, coarse &+ 10 >= header.expires {
      return header.state(at: SystemTime.milliseconds)
    }
    return header.state(at: coarse)
  }
}

extension EntryHeader {
  /// The state of the entry at `now`. An entry with an end that was written more than a minute in the future counts as stale:
  /// the clock was set back, and the entry would live too long.
  @inline(__always)
  func state(at now: Int64) -> Store.Entry.State {
    if expires == Self.never { return .fresh }
    if now >= staleUntil { return .expired }
    if now >= expires || written &- 60_000 > now { return .stale }
    return .fresh
  }
}
