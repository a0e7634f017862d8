import CLarderSystem

/// Identifies one boot of the machine. Data that is written but not yet flushed to the disk stays readable until the next boot.
package struct BootIdentity: Equatable, Sendable {
  package let high: UInt64
  package let low: UInt64

  package init(_ high: UInt64, _ low: UInt64) {
    self.high = high
    self.low = low
  }

  /// Parses 32 hexadecimal digits and ignores all other characters; nil if there are more or fewer digits.
  package init?(_ text: [UInt8]) {
    let digits = text.compactMap { Character(UnicodeScalar($0)).hexDigitValue }
    guard digits.count == 32 else { return nil }
    high = digits[..<16].reduce(0) { $0 << 4 | UInt64($1) }
    low = digits[16...].reduce(0) { $0 << 4 | UInt64($1) }
  }

  package static func current() throws(SystemError) -> BootIdentity {
    #if canImport(Darwin)
      var bytes = [UInt8](repeating: 0, count: 64)
      var length = bytes.count
      try checkErrno { unsafe sysctlbyname("kern.bootsessionuuid", &bytes, &length, nil, 0) }
      let text = Array(bytes.prefix(length))
    #else
      let path = "/proc/sys/kernel/random/boot_id"
      // Callers report the system's error for a missing file as an error of the store's directory.
      if FileStatus.of(path) == nil { throw .noBootIdentity }
      let text = try FileDescriptor(opening: path, O_RDONLY).contents(at: 0, count: 64)
    #endif
    guard let boot = BootIdentity(text) else { throw .noBootIdentity }
    return boot
  }
}
