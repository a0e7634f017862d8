import LarderSystem

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A time in milliseconds since 1970-01-01 00:00 UTC. Every expiration has this resolution.
public struct Timestamp: Hashable, Comparable, Sendable, Codable, CustomStringConvertible {
  /// Milliseconds since 1970-01-01 00:00 UTC, leap seconds not counted.
  public var milliseconds: Int64

  /// The time `milliseconds` after 1970-01-01 00:00 UTC.
  public init(milliseconds: Int64) { self.milliseconds = milliseconds }

  /// The millisecond nearest to `date`, so a time that is converted to ``date`` and back stays equal. A date more than 292
  /// million years from 1970 becomes the nearest possible time. A write throws if its lifetime has a date that is not a number.
  public init(_ date: Date) {
    let seconds = date.timeIntervalSince1970
    milliseconds =
      seconds.isNaN ? Self.notADate.milliseconds : Int64(saturating: (seconds * 1000).rounded())
  }

  /// The time of a date that is not a number. No entry can expire at this time, so a write with such a lifetime throws.
  static let notADate = Timestamp(milliseconds: .min + 1)

  /// The time as a `Date`.
  public var date: Date { Date(timeIntervalSince1970: Double(milliseconds) / 1000) }

  /// The time `duration` after this time, clamped to 64 bits of milliseconds.
  public func advanced(by duration: Duration) -> Timestamp {
    Timestamp(milliseconds: milliseconds.saturatingAdding(duration.roundedUpMilliseconds))
  }

  /// The duration from this time to `other`, clamped to 64 bits of milliseconds. Negative if `other` is the earlier time.
  public func duration(to other: Timestamp) -> Duration {
    let (difference, overflow) = other.milliseconds.subtractingReportingOverflow(milliseconds)
    return .milliseconds(overflow ? (other < self ? .min : .max) : difference)
  }

  /// Whether `left` is earlier than `right`.
  public static func < (left: Self, right: Self) -> Bool { left.milliseconds < right.milliseconds }

  /// The time in UTC with milliseconds (RFC 3339). For a year before 0 or after 9999, the number of milliseconds.
  public var description: String {
    guard (-62_167_219_200_000..<253_402_300_800_000).contains(milliseconds) else {
      return "\(milliseconds) ms since 1970"
    }
    // The formatter truncates, and a binary fraction may be a little too small, so half a millisecond is added first.
    return Date(timeIntervalSince1970: (Double(milliseconds) + 0.5) / 1000).formatted(
      .iso8601.year().month().day().time(includingFractionalSeconds: true)
        .timeZone(separator: .omitted))
  }

  /// Decodes the number of milliseconds.
  public init(from decoder: any Decoder) throws { milliseconds = try Int64(from: decoder) }

  /// Encodes the number of milliseconds.
  public func encode(to encoder: any Encoder) throws { try milliseconds.encode(to: encoder) }
}

extension Duration {
  // Inlinable, because a program calls these functions for each write, and the conversion of an unknown type takes long.

  /// A duration of minutes.
  @inlinable
  public static func minutes(_ count: some BinaryInteger) -> Duration {
    times(Int64(clamping: count), 60)
  }

  /// A duration of hours.
  @inlinable
  public static func hours(_ count: some BinaryInteger) -> Duration {
    times(Int64(clamping: count), 3600)
  }

  /// A duration of days of 24 hours.
  @inlinable
  public static func days(_ count: some BinaryInteger) -> Duration {
    times(Int64(clamping: count), 86_400)
  }

  /// `count` units of `unit` seconds, clamped to 64 bits of seconds.
  @usableFromInline
  static func times(_ count: Int64, _ unit: Int64) -> Duration {
    .seconds(count.saturatingTimes(unit))
  }
}

extension Int64 {
  init(saturating value: Double) {
    self = value.isNaN ? 0 : value >= 0x1p63 ? .max : value < -0x1p63 ? .min : Int64(value)
  }
}

extension FixedWidthInteger {
  package func saturatingAdding(_ other: Self) -> Self {
    let (sum, overflow) = addingReportingOverflow(other)
    return overflow ? (other < 0 ? .min : .max) : sum
  }

  /// `unit` must be positive.
  func saturatingTimes(_ unit: Self) -> Self {
    let (product, overflow) = multipliedReportingOverflow(by: unit)
    return overflow ? (self < 0 ? .min : .max) : product
  }
}
