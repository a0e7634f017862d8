import Larder

extension Duration {
  /// Whole milliseconds, rounded towards zero.
  var milliseconds: Int64 {
    let (seconds, attoseconds) = components
    return seconds * 1000 + attoseconds / 1_000_000_000_000_000
  }
}

extension Timestamp {
  /// The last moment of the year 9999: what RFC 3339 can write.
  static let last = Timestamp(milliseconds: 253_402_300_799_999)

  /// Nil beyond the years 1970 to 9999.
  func moved(by milliseconds: Int64) -> Timestamp? {
    let (sum, overflow) = self.milliseconds.addingReportingOverflow(milliseconds)
    return overflow || sum < 0 || sum > Self.last.milliseconds ? nil : Timestamp(milliseconds: sum)
  }

  /// From `other` to this one, in milliseconds.
  func since(_ other: Timestamp) -> Int64 { milliseconds - other.milliseconds }
}
