#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The time zone of the machine, or of `TZ`, as the C library knows it.
///
/// ICU knows it as well, but loading it would take longer than most commands.
package enum LocalTime {
  /// How far clocks on the wall are ahead of UTC at a moment, both in seconds.
  package static func offset(at seconds: Int64) -> Int {
    var time = time_t(seconds)
    var parts = unsafe tm()
    guard unsafe localtime_r(&time, &parts) != nil else { return 0 }
    return unsafe parts.tm_gmtoff
  }
}
