import CLMDB

/// The system's clocks, without a system call where the platform offers that.
public enum SystemTime {
  /// Milliseconds since 1970, up to one scheduler tick (4 ms) behind; about 3 ns.
  @inline(__always)
  package static var coarseMilliseconds: Int64 {
    #if canImport(Darwin)
      milliseconds
    #else
      read(CLOCK_REALTIME_COARSE)
    #endif
  }

  /// Whole minutes since 1970, for hints.
  @inline(__always)
  public static var coarseMinutes: Int64 { coarseSeconds / 60 }

  @inline(__always)
  private static var coarseSeconds: Int64 { Int64(clmdb_coarse_seconds()) }

  /// Milliseconds since 1970; about 20 ns.
  @inline(__always)
  package static var milliseconds: Int64 { read(CLOCK_REALTIME) }

  /// Milliseconds since an arbitrary moment of this boot; never goes back.
  package static var monotonicMilliseconds: Int64 { read(CLOCK_MONOTONIC) }

  @inline(__always)
  private static func read(_ clock: clockid_t) -> Int64 {
    var time = timespec()
    unsafe clock_gettime(clock, &time)
    return Int64(time.tv_sec) &* 1000 &+ Int64(time.tv_nsec) / 1_000_000
  }
}
