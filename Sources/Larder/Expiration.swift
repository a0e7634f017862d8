#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// How long an entry stays fresh.
public enum Expiration: Hashable, Sendable {
  case never
  /// For so long after it is written. Zero or less: it is stored and already expired.
  case after(Duration)
  /// Until that moment; at it, the entry is expired.
  case at(Timestamp)
  /// Until wall clocks next show that time in the zone, which is named as in the system's time zone database:
  /// `Europe/Zurich`.
  ///
  /// An entry written at that very time stays for a day. On a day on which clocks leap over the time it is the moment of
  /// the leap; on one on which they show it twice, the first. A day that a zone leaves out altogether has no such time.
  case daily(at: TimeOfDay, in: String)
  /// Until it was not used for so long: at least that, and at most a sixteenth longer.
  ///
  /// Reading the value is use. Looking is not: ``Store/Namespace/entry(for:)``, ``Store/Namespace/contains(_:)``,
  /// ``Store/Namespace/page(limit:after:prefix:)``, ``Store/Namespace/scan(prefix:after:includingExpired:_:)`` and everything in the
  /// shell. Reads through a store opened for reading only do not count either.
  case afterAccess(Duration)

  public static func at(_ date: Date) -> Expiration { .at(Timestamp(date)) }

  /// Until wall clocks next show that time in the zone: `.daily(at: 4, 00, in: "Europe/Zurich")`.
  public static func daily(at hour: Int, _ minute: Int, in zone: String) -> Expiration {
    .daily(at: TimeOfDay(hour, minute), in: zone)
  }

  /// The first millisecond at which an entry written at `now` is expired; ``EntryHeader/never`` for none.
  ///
  /// Throws for a zone that is not known here.
  func deadline(from now: Timestamp) throws(LarderError) -> Int64 {
    switch self {
    case .never: EntryHeader.never
    case .after(let duration): now.advanced(by: duration).milliseconds
    case .at(let moment): moment.milliseconds
    case .daily(let time, let zone): try ZoneRules.next(time, in: zone, after: now).milliseconds
    case .afterAccess(let duration):
      IdleInterval(duration).map { $0.end(after: now.milliseconds) } ?? now.milliseconds
    }
  }

  /// How long the entry may lie unused; nil where that does not count.
  var idle: IdleInterval? {
    if case .afterAccess(let duration) = self { IdleInterval(duration) } else { nil }
  }

  /// The same, with durations of whole milliseconds.
  var inMilliseconds: Expiration {
    switch self {
    case .after(let duration): .after(.milliseconds(duration.milliseconds))
    case .afterAccess(let duration): .afterAccess(.milliseconds(duration.milliseconds))
    case .never, .at, .daily: self
    }
  }

  /// Throws unless it can be a rule.
  func validate() throws(LarderError) {
    switch self {
    case .never, .at: break
    case .after(let lifetime):
      guard lifetime >= .zero else {
        throw LarderError(
          .invalidArgument, "a lifetime of \(lifetime) is not possible", hint: "say zero or more")
      }
    case .afterAccess(let interval):
      guard interval > .zero else {
        throw LarderError(
          .invalidArgument, "an entry cannot stay for \(interval) after its last use",
          hint: "say more than zero")
      }
    case .daily(let time, let zone):
      _ = try ZoneRules.next(time, in: zone, after: Timestamp(milliseconds: 0))
    }
  }
}
