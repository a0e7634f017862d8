import CEditline

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

extension Terminal {
  /// Whether the locale asked for is one of UTF-8, so that more than ASCII can be drawn.
  ///
  /// Decided by the name: the terminal speaks UTF-8 even where the locale's files are not installed.
  package static func speaksUTF8(environment: [String: String]) -> Bool {
    let names = ["LC_ALL", "LC_CTYPE", "LANG"].map { environment[$0, default: ""] }
    let name = names.first { !$0.isEmpty } ?? ""
    let codeset = name.split(separator: "@").first?.split(separator: ".").last ?? ""
    return ["utf-8", "utf8"].contains(codeset.lowercased())
  }

  /// Makes the C library take characters as UTF-8, whatever the locale.
  ///
  /// Without it libedit loses every byte beyond ASCII without a word. Called once, before other threads start.
  static func useUTF8Characters() {
    _ = unsafe setlocale(LC_CTYPE, "")
    for name in ["C.UTF-8", "en_US.UTF-8"] where cel_codeset_is_utf8() == 0 {
      _ = unsafe setlocale(LC_CTYPE, name)
    }
  }

  /// The cells the scalars take on the screen, or nil if one of them is a control character.
  static func width(of scalars: some Sequence<Unicode.Scalar>) -> Int? {
    var total = 0
    for scalar in scalars {
      let width = cel_width(wchar_t(bitPattern: scalar.value))
      guard width >= 0 else { return nil }
      total += Int(width)
    }
    return total
  }
}

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
