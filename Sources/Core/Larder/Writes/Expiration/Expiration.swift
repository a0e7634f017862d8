import LarderSystem

/// How long an entry stays fresh. Times have a resolution of a millisecond.
public enum Expiration: Hashable, Sendable {
  /// The entry does not expire.
  case never
  /// The entry expires when this duration has passed after its write. A duration of zero or less stores an expired entry.
  case after(Duration)
  /// The entry is fresh before this time, and expired at this time and later.
  case at(Timestamp)
  /// The entry expires when wall clocks next show this time in the zone, for example `.daily(at: TimeOfDay(4), in:
  /// "Europe/Zurich")`. The zone is a name of the system's time zone database. A write throws
  /// ``LarderError/Code/invalidArgument`` for a time that no clock shows, and for an unknown zone.
  ///
  /// An entry that is written at exactly this time expires a day later. If the clocks skip the time on a day, the entry expires
  /// when the clocks change. If the clocks show the time twice, the first time counts. A day that a zone skips does not count.
  indirect case daily(at: TimeOfDay, in: String)
  /// The entry expires if it is not used for this duration (time to idle). The expiry may be up to 1/16 of the duration late.
  ///
  /// A read of the value is a use. These are not uses: ``Store/Namespace/entry(for:)``, ``Store/Namespace/contains(_:)``,
  /// ``Store/Namespace/page(limit:after:prefix:)``, ``Store/Namespace/scan(prefix:after:includingExpired:_:)``, reads by the
  /// shell, and reads through a read-only handle.
  case afterAccess(Duration)

  /// The first millisecond at which an entry that is written at `now` is expired; ``EntryHeader/never`` if it does not expire.
  /// Throws for an unknown zone, a time that no clock shows, and a date that is not a number.
  func deadline(from now: Timestamp) throws(LarderError) -> Int64 {
    if case .at = self { try validate() }
    return switch self {
    case .never: EntryHeader.never
    case .after(let duration): now.advanced(by: duration).milliseconds
    case .at(let moment): moment.milliseconds
    case .daily(let time, let zone): try ZoneRules.next(time, in: zone, after: now).milliseconds
    case .afterAccess(let duration):
      IdleInterval(duration).map { $0.end(after: now.milliseconds) } ?? now.milliseconds
    }
  }

  /// How long an entry that is written at `now` stays fresh; nil if the entry never expires. A time to idle begins at the write.
  package func lifetime(from now: Timestamp) throws(LarderError) -> Duration? {
    let end = try deadline(from: now)
    return end == EntryHeader.never ? nil : now.duration(to: Timestamp(milliseconds: end))
  }

  /// The interval between the last use and the expiry; nil if a use does not change the expiry.
  var timeToIdle: IdleInterval? {
    if case .afterAccess(let duration) = self { IdleInterval(duration) } else { nil }
  }

  var inMilliseconds: Expiration {
    switch self {
    case .after(let duration): .after(.milliseconds(duration.roundedUpMilliseconds))
    case .afterAccess(let duration): .afterAccess(.milliseconds(duration.roundedUpMilliseconds))
    case .never, .at, .daily: self
    }
  }

  func validate() throws(LarderError) {
    switch self {
    case .never: break
    case .at(let moment):
      guard moment != .notADate else {
        throw LarderError(
          .invalidArgument, "an entry cannot expire at a date that is not a number",
          hint: "compute the date from finite numbers")
      }
    case .after(let lifetime):
      guard lifetime >= .zero else {
        throw .impossible("a lifetime of \(lifetime)", hint: "use zero or more")
      }
    case .afterAccess(let interval):
      guard interval > .zero else {
        throw LarderError(
          .invalidArgument, "an entry cannot stay for \(interval) after its last use",
          hint: "use more than zero")
      }
    case .daily(let time, let zone):
      _ = try ZoneRules.next(time, in: zone, after: Timestamp(milliseconds: 0))
    }
  }
}

/// The form in JSON: `{}` for never, `{"after": milliseconds}`, `{"at": milliseconds}`, `{"daily": "04:00", "zone":
/// "Europe/Zurich"}` or `{"afterAccess": milliseconds}`.
extension Expiration: Codable {
  package enum CodingKeys: String, CodingKey, CaseIterable {
    case after, at, daily, zone, afterAccess
  }

  private struct Ignored: Decodable { init(from decoder: any Decoder) {} }

  /// Ignores unknown keys if there is also a known key. If all keys are unknown, a later version has written the form, and this
  /// function throws. To read the form as `never` would keep entries that should expire.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    if let after = try container.decodeIfPresent(Int64.self, forKey: .after) {
      self = .after(.milliseconds(after))
    } else if let moment = try container.decodeIfPresent(Timestamp.self, forKey: .at) {
      self = .at(moment)
    } else if let text = try container.decodeIfPresent(String.self, forKey: .daily) {
      guard let time = TimeOfDay(text) else {
        throw DecodingError.dataCorruptedError(
          forKey: .daily, in: container, debugDescription: "\"\(text)\" is not a time of day")
      }
      self = .daily(at: time, in: try container.decode(String.self, forKey: .zone))
    } else if let interval = try container.decodeIfPresent(Int64.self, forKey: .afterAccess) {
      self = .afterAccess(.milliseconds(interval))
    } else {
      let unknown = try [String: Ignored](from: decoder).keys.sorted()
      guard unknown.isEmpty else {
        throw DecodingError.dataCorrupted(
          DecodingError.Context(
            codingPath: decoder.codingPath,
            debugDescription: "an expiration by \(unknown.joined(separator: ", ")) is not known"))
      }
      self = .never
    }
  }

  /// Encodes the expiration in its JSON form.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    switch self {
    case .never: break
    case .after(let duration): try container.encode(duration.roundedUpMilliseconds, forKey: .after)
    case .at(let moment): try container.encode(moment, forKey: .at)
    case .daily(let time, let zone):
      try container.encode(time.description, forKey: .daily)
      try container.encode(zone, forKey: .zone)
    case .afterAccess(let interval):
      try container.encode(interval.roundedUpMilliseconds, forKey: .afterAccess)
    }
  }
}
