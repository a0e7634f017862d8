#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// How long an entry stays.
public enum Expiration: Hashable, Sendable, Codable {
  case never
  /// For so long after it is written. Zero or less: it is stored and already expired.
  case after(Duration)
  /// Until that moment; at it, the entry is expired.
  case at(Timestamp)

  public static func at(_ date: Date) -> Expiration { .at(Timestamp(date)) }

  /// The first millisecond at which an entry written at `now` is expired; ``EntryHeader/never`` for none.
  func deadline(from now: Timestamp) -> Int64 {
    switch self {
    case .never: EntryHeader.never
    case .after(let duration): now.advanced(by: duration).milliseconds
    case .at(let moment): moment.milliseconds
    }
  }

  /// The same, with a duration of whole milliseconds.
  var inMilliseconds: Expiration {
    if case .after(let duration) = self {
      .after(.milliseconds(duration.milliseconds))
    } else {
      self
    }
  }

  private enum CodingKeys: String, CodingKey {
    case after, at
  }

  /// `{}` for never, `{"after": milliseconds}` or `{"at": milliseconds}`.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    if let after = try container.decodeIfPresent(Int64.self, forKey: .after) {
      self = .after(.milliseconds(after))
    } else if let moment = try container.decodeIfPresent(Timestamp.self, forKey: .at) {
      self = .at(moment)
    } else {
      self = .never
    }
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    switch self {
    case .never: break
    case .after(let duration): try container.encode(duration.milliseconds, forKey: .after)
    case .at(let moment): try container.encode(moment, forKey: .at)
    }
  }
}
