public import Larder

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What an app leaves for its widget, and what that reads: two processes, one store, no service.
public struct Widget: Sendable {
  public let store: Store
  private let next: Cache<NextDeparture>
  private let settingsCache: Cache<WidgetSettings>

  /// The most that is left of a station.
  public static let most = 20

  public init(_ store: Store) {
    self.store = store
    next = store.cache(of: NextDeparture.self, on: .next)
    settingsCache = store.cache(of: WidgetSettings.self, on: .settings)
  }

  /// Those that were saved last, or the usual ones.
  public var settings: WidgetSettings {
    get throws { try settingsCache.value(for: "widget") ?? WidgetSettings() }
  }

  public func save(_ settings: WidgetSettings) throws {
    try settingsCache.set(settings, for: "widget")
  }

  /// Leaves what departs from a station next, in place of what was left before: a reader sees the one or the other.
  public func publish(_ departures: [NextDeparture], for station: String) throws {
    let keys = Set(departures.map { $0.key(of: station) })
    var old: [Key] = []
    try next.namespace.scan(prefix: NextDeparture.prefix(of: station)) { entry, _ in
      if entry.key.string.map({ !keys.contains($0) }) ?? true { old.append(entry.key) }
      return true
    }
    try store.write { batch in
      for key in old { try batch.remove(key, from: next) }
      for departure in departures {
        try batch.set(
          departure, for: departure.key(of: station), in: next, expires: .at(departure.leaves))
      }
    }
  }

  /// What leaves a station next; what has left is not in the store any more.
  public func departures(from station: String, limit: Int? = nil) throws -> [NextDeparture] {
    let settings = try settings
    let limit = limit ?? settings.rows
    var found: [NextDeparture] = []
    try next.namespace.scan(prefix: NextDeparture.prefix(of: station)) { entry, bytes in
      guard found.count < limit else { return false }
      var departure = try JSONCodec<NextDeparture>().decode(bytes)
      if !settings.showsShips { departure.ship = nil }
      found.append(departure)
      return true
    }
    return found
  }

  /// Every change of what leaves next, by whatever process: look again at each.
  public func changes() -> Changes { next.namespace.changes() }
}
