import LarderSystem

/// JSON: `{}` for never, `{"after": milliseconds}`, `{"at": milliseconds}`, `{"daily": "04:00", "zone": "Europe/Zurich"}` or
/// `{"afterAccess": milliseconds}`.
extension Expiration: Codable {
  private enum CodingKeys: String, CodingKey {
    case after, at, daily, zone, afterAccess
  }

  /// A key of any name.
  private struct Name: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  /// Unknown keys beside a known form are ignored. A form with unknown keys only is of a later version, and an error: read
  /// as never it would keep entries that should expire.
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
      let unknown = try decoder.container(keyedBy: Name.self).allKeys.map(\.stringValue).sorted()
      guard unknown.isEmpty else {
        throw DecodingError.dataCorrupted(
          DecodingError.Context(
            codingPath: decoder.codingPath,
            debugDescription: "an expiration by \(unknown.joined(separator: ", ")) is not known"))
      }
      self = .never
    }
  }

  /// Encodes the form above.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    switch self {
    case .never: break
    case .after(let duration): try container.encode(duration.milliseconds, forKey: .after)
    case .at(let moment): try container.encode(moment, forKey: .at)
    case .daily(let time, let zone):
      try container.encode(time.description, forKey: .daily)
      try container.encode(zone, forKey: .zone)
    case .afterAccess(let interval):
      try container.encode(interval.milliseconds, forKey: .afterAccess)
    }
  }
}
