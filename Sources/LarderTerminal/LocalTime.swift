#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The time zone of the machine, or of `TZ`, from the C library. Loading ICU would take longer than most
/// commands.
package enum LocalTime {
  /// The offset of local time from UTC at a time, both in seconds.
  package static func offset(at seconds: Int64) -> Int {
    var time = time_t(seconds)
    var parts = unsafe tm()
    guard unsafe localtime_r(&time, &parts) != nil else { return 0 }
    return unsafe parts.tm_gmtoff
  }

  /// The abbreviation of the zone at a time, such as `CET`.
  package static func zone(at seconds: Int64) -> String? {
    var time = time_t(seconds)
    var parts = unsafe tm()
    guard unsafe localtime_r(&time, &parts) != nil, let name = unsafe parts.tm_zone else {
      return nil
    }
    return unsafe String(validatingCString: name)
  }
}
