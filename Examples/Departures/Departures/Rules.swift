public import Larder

/// The namespaces of the store. The rules of each namespace are one line.
public enum BoatNamespace: String, CaseIterable, Sendable {
  case boards, next, weather, ships, temperatures, levels, sun, tiles, http

  public var name: String { "boat." + rawValue }

  public var rules: Rules {
    let zone = SwissTime.zone
    return switch self {
    case .boards, .ships: Rules(expires: .daily(at: TimeOfDay(4), in: zone), stale: .days(1))
    case .next: Rules(expires: .after(.hours(12)), priority: .high)
    case .weather: Rules(expires: .after(.hours(6)), stale: .days(1))
    case .temperatures: Rules(expires: .daily(at: TimeOfDay(0), in: zone), stale: .days(1))
    case .levels: Rules(expires: .after(.hours(24)), stale: .days(1))
    case .sun: Rules(expires: .daily(at: TimeOfDay(0), in: zone))
    case .tiles: Rules(expires: .never, limits: Limits(bytes: .megabytes(40)), priority: .low)
    case .http: Rules(limits: Limits(bytes: .megabytes(30)), priority: .low)
    }
  }
}
