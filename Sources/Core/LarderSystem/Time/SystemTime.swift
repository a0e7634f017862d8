import CLarderSystem

/// Reads the clocks of the system, without a system call where the platform allows that.
package enum SystemTime {
  /// Milliseconds since 1970. The value is up to one scheduler tick (4 ms, at most 10 ms) too low. A call takes about 3 ns.
  @inline(__always)
  package static var coarseMilliseconds: Int64 { read(larder_coarse_realtime) }

  /// Milliseconds since 1970; a call takes about 20 ns.
  @inline(__always)
  package static var milliseconds: Int64 { read(CLOCK_REALTIME) }

  /// Milliseconds since an arbitrary time in this boot. The value never decreases.
  package static var monotonicMilliseconds: Int64 { read(CLOCK_MONOTONIC) }

  /// Like ``monotonicMilliseconds``, but up to one scheduler tick (4 ms, at most 10 ms) too low. A call takes about 3 ns.
  @inline(__always)
  package static var coarseMonotonicMilliseconds: Int64 { read(larder_coarse_monotonic) }

  /// Like ``monotonicMilliseconds``, in microseconds.
  package static var monotonicMicroseconds: Int64 { read(CLOCK_MONOTONIC, perSecond: 1_000_000) }

  @inline(__always)
  private static func read(_ clock: clockid_t, perSecond: Int64 = 1000) -> Int64 {
    var time = timespec()
    unsafe clock_gettime(clock, &time)
    return Int64(time.tv_sec) &* perSecond &+ Int64(time.tv_nsec) / (1_000_000_000 / perSecond)
  }
}

extension Duration {
  /// This duration, limited to about 140,000 million years of either sign: sums of a few such durations do not overflow.
  package var bounded: Duration {
    let longest = Duration.seconds(Int64(1) << 62)
    return min(max(self, .zero - longest), longest)
  }

  /// Whole milliseconds, rounded towards zero and clamped to 64 bits.
  @inlinable package var truncatedMilliseconds: Int64 {
    Int64(clamping: attoseconds / 1_000_000_000_000_000)
  }

  /// Whole milliseconds, rounded up so that nothing expires early, and clamped to 64 bits.
  @inlinable package var roundedUpMilliseconds: Int64 {
    let (whole, rest) = attoseconds.quotientAndRemainder(dividingBy: 1_000_000_000_000_000)
    return Int64(clamping: rest > 0 ? whole + 1 : whole)
  }

  /// Whole milliseconds for waiting, limited to about a thousand years, so that sums of a few such numbers do not overflow.
  package var waitMilliseconds: Int64 {
    let longest = Int64(1) << 45
    return Int64(min(max(self / .milliseconds(1), -Double(longest)), Double(longest)))
  }
}
