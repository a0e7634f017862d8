import CLMDB

/// Which start of the machine this is: what was written and never synced is there as long as it stays the same.
package struct BootIdentity: Equatable, Sendable {
  let high: UInt64
  let low: UInt64

  package init(_ high: UInt64, _ low: UInt64) {
    self.high = high
    self.low = low
  }

  /// 32 hexadecimal digits, whatever stands between them.
  init?(_ text: [UInt8]) {
    let digits = text.compactMap { Character(UnicodeScalar($0)).hexDigitValue }
    guard digits.count == 32 else { return nil }
    high = digits[..<16].reduce(0) { $0 << 4 | UInt64($1) }
    low = digits[16...].reduce(0) { $0 << 4 | UInt64($1) }
  }

  static func current() throws(LMDBError) -> BootIdentity {
    guard let boot = BootIdentity(try text()) else { throw LMDBError(code: ENOENT) }
    return boot
  }

  private static func text() throws(LMDBError) -> [UInt8] {
    #if canImport(Darwin)
      var bytes = [UInt8](repeating: 0, count: 64)
      var length = bytes.count
      try checkErrno { unsafe sysctlbyname("kern.bootsessionuuid", &bytes, &length, nil, 0) }
      return Array(bytes.prefix(length))
    #else
      let file = try FileDescriptor(opening: "/proc/sys/kernel/random/boot_id", O_RDONLY)
      return try file.contents(at: 0, count: 64)
    #endif
  }
}
