#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A moment in milliseconds since 1970, UTC: the resolution in which everything expires.
public struct Timestamp: Hashable, Comparable, Sendable, Codable, CustomStringConvertible {
  public var milliseconds: Int64

  public init(milliseconds: Int64) { self.milliseconds = milliseconds }

  /// The millisecond nearest to `date`, so that ``date`` leads back to the same one; one outside the years ±292 million is cut to the nearest.
  public init(_ date: Date) {
    milliseconds = Int64(saturating: (date.timeIntervalSince1970 * 1000).rounded())
  }

  public var date: Date { Date(timeIntervalSince1970: Double(milliseconds) / 1000) }

  /// The moment `duration` later; never past the ends of what can be said.
  public func advanced(by duration: Duration) -> Timestamp {
    let (sum, overflow) = milliseconds.addingReportingOverflow(duration.milliseconds)
    return Timestamp(milliseconds: overflow ? (duration < .zero ? .min : .max) : sum)
  }

  public func duration(to other: Timestamp) -> Duration {
    let (difference, overflow) = other.milliseconds.subtractingReportingOverflow(milliseconds)
    return .milliseconds(overflow ? (other < self ? .min : .max) : difference)
  }

  public static func < (left: Self, right: Self) -> Bool { left.milliseconds < right.milliseconds }

  /// RFC 3339, in UTC, with milliseconds; the bare number for years that it cannot say, before 0 and after 9999.
  public var description: String {
    guard (-62_167_219_200_000..<253_402_300_800_000).contains(milliseconds) else {
      return "\(milliseconds) ms since 1970"
    }
    // The formatter cuts; half a millisecond keeps what binary fractions lack from costing a whole one.
    return Date(timeIntervalSince1970: (Double(milliseconds) + 0.5) / 1000).formatted(
      .iso8601.year().month().day().time(includingFractionalSeconds: true)
        .timeZone(separator: .omitted))
  }

  public init(from decoder: any Decoder) throws {
    milliseconds = try decoder.singleValueContainer().decode(Int64.self)
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(milliseconds)
  }
}

extension Duration {
  public static func minutes(_ count: some BinaryInteger) -> Duration { times(count, 60) }

  public static func hours(_ count: some BinaryInteger) -> Duration { times(count, 3600) }

  public static func days(_ count: some BinaryInteger) -> Duration { times(count, 86_400) }

  public static func weeks(_ count: some BinaryInteger) -> Duration { times(count, 604_800) }

  /// Cut to what 64 bits of seconds hold: longer than anything is kept.
  private static func times(_ count: some BinaryInteger, _ unit: Int64) -> Duration {
    let (seconds, overflow) = Int64(clamping: count).multipliedReportingOverflow(by: unit)
    return .seconds(overflow ? (count < 0 ? .min : .max) : seconds)
  }

  /// Whole milliseconds, rounded up so that nothing expires early; cut to what 64 bits hold.
  var milliseconds: Int64 {
    let (seconds, attoseconds) = components
    let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1000)
    if overflow { return seconds < 0 ? .min : .max }
    let step: Int64 = 1_000_000_000_000_000
    let rest = attoseconds > 0 ? (attoseconds + step - 1) / step : attoseconds / step
    let (sum, carried) = whole.addingReportingOverflow(rest)
    return carried ? (seconds < 0 ? .min : .max) : sum
  }
}

extension Int64 {
  init(saturating value: Double) {
    self = value.isNaN ? 0 : value >= 0x1p63 ? .max : value < -0x1p63 ? .min : Int64(value)
  }
}
