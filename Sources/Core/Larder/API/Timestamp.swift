import LarderSystem

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A time in milliseconds since 1970-01-01 00:00 UTC, the resolution of every expiration.
public struct Timestamp: Hashable, Comparable, Sendable, Codable, CustomStringConvertible {
  /// Milliseconds since 1970-01-01 00:00 UTC, leap seconds not counted.
  public var milliseconds: Int64

  /// The time so many milliseconds after 1970-01-01 00:00 UTC.
  public init(milliseconds: Int64) { self.milliseconds = milliseconds }

  /// The millisecond nearest to `date`, so that ``date`` leads back to the same one. A date outside the years ±292 million
  /// becomes the nearest that is possible. A lifetime with a date that is not a number throws.
  public init(_ date: Date) {
    let seconds = date.timeIntervalSince1970
    milliseconds =
      seconds.isNaN ? Self.notADate.milliseconds : Int64(saturating: (seconds * 1000).rounded())
  }

  /// Stands for a date that is not a number: no entry can expire then, so that a lifetime with it throws.
  static let notADate = Timestamp(milliseconds: .min + 1)

  /// The same as a `Date`.
  public var date: Date { Date(timeIntervalSince1970: Double(milliseconds) / 1000) }

  /// The time `duration` later, cut to what 64 bits of milliseconds hold.
  public func advanced(by duration: Duration) -> Timestamp {
    let (sum, overflow) = milliseconds.addingReportingOverflow(duration.roundedUpMilliseconds)
    return Timestamp(milliseconds: overflow ? (duration < .zero ? .min : .max) : sum)
  }

  /// The time from this to `other`, negative if `other` is earlier; cut to what 64 bits of milliseconds hold.
  public func duration(to other: Timestamp) -> Duration {
    let (difference, overflow) = other.milliseconds.subtractingReportingOverflow(milliseconds)
    return .milliseconds(overflow ? (other < self ? .min : .max) : difference)
  }

  /// Whether `left` is earlier.
  public static func < (left: Self, right: Self) -> Bool { left.milliseconds < right.milliseconds }

  /// RFC 3339 in UTC with milliseconds; the number of milliseconds for years before 0 and after 9999.
  public var description: String {
    guard (-62_167_219_200_000..<253_402_300_800_000).contains(milliseconds) else {
      return "\(milliseconds) ms since 1970"
    }
    // The formatter truncates: half a millisecond makes up for what binary fractions lack.
    return Date(timeIntervalSince1970: (Double(milliseconds) + 0.5) / 1000).formatted(
      .iso8601.year().month().day().time(includingFractionalSeconds: true)
        .timeZone(separator: .omitted))
  }

  /// Decodes the number of milliseconds.
  public init(from decoder: any Decoder) throws {
    milliseconds = try decoder.singleValueContainer().decode(Int64.self)
  }

  /// Encodes the number of milliseconds.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(milliseconds)
  }
}

extension Duration {
  /// A duration of minutes.
  public static func minutes(_ count: some BinaryInteger) -> Duration { times(count, 60) }

  /// A duration of hours.
  public static func hours(_ count: some BinaryInteger) -> Duration { times(count, 3600) }

  /// A duration of days of 24 hours.
  public static func days(_ count: some BinaryInteger) -> Duration { times(count, 86_400) }

  /// Cut to what 64 bits of seconds hold.
  private static func times(_ count: some BinaryInteger, _ unit: Int64) -> Duration {
    let (seconds, overflow) = Int64(clamping: count).multipliedReportingOverflow(by: unit)
    return .seconds(overflow ? (count < 0 ? .min : .max) : seconds)
  }
}

extension Int64 {
  init(saturating value: Double) {
    self = value.isNaN ? 0 : value >= 0x1p63 ? .max : value < -0x1p63 ? .min : Int64(value)
  }
}
