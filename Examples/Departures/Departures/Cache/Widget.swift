import Foundation
public import Larder
public import Service

/// The next departures that an app writes and its widget, another process, reads from the same store.
public struct Widget: Sendable {
  public let store: Store
  private let realm: Realm
  private let shipsRealm: Realm
  private var boards: Cache<Board> { store.cache(in: .boards, realm) }
  private var ships: Cache<ShipDay> { store.cache(in: .ships, shipsRealm) }
  private var next: Cache<NextDeparture> { store.cache(in: .next, shipsRealm) }
  private var settingsCache: Cache<WidgetSettings> { store.cache(in: .settings, realm) }

  /// The most departures of a station.
  public static let most = 20

  /// - Parameter ships: the realm of the names of ships; nil for the same one.
  public init(_ store: Store, realm: Realm = .open, ships: Realm? = nil) {
    (self.store, self.realm, shipsRealm) = (store, realm, ships ?? realm)
  }

  /// The saved settings, or the defaults.
  public var settings: WidgetSettings {
    get throws { try settingsCache.value(for: "widget") ?? WidgetSettings() }
  }

  public func save(_ settings: WidgetSettings) throws {
    try settingsCache.set(settings, for: "widget")
  }

  /// Replaces the departures of a station in one transaction.
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

  /// The next departures of a station: the published ones, and after them those of the stored board. A departure expires when it
  /// leaves.
  public func departures(from station: String, limit: Int? = nil) throws -> [NextDeparture] {
    let settings = try settings
    let limit = max(limit ?? settings.rows, 0)
    var found: [NextDeparture] = []
    try next.namespace.scan(prefix: NextDeparture.prefix(of: station)) { entry, bytes in
      found.append(try JSONCodec<NextDeparture>().decode(bytes))
      return true
    }
    if found.count < limit, let board = try board(of: station) {
      let last = found.map(\.time).max()
      let day = try ships.value(for: "\(board.day)")
      found += board.upcoming(at: store.now).filter { departure in
        last.map { departure.time > $0 } ?? true
      }
      .map { NextDeparture($0, from: board.station, ship: day?.ship(of: $0)) }
    }
    if !settings.showsShips { for index in found.indices { found[index].ship = nil } }
    // The keys are in the planned order, of which a late boat is no longer.
    return Array(found.sorted { $0.leaves < $1.leaves }.prefix(limit))
  }

  /// Today's board of a station, a stale one too; nil if none is stored.
  public func board(of station: String) throws -> Board? {
    let key = try DeparturesCache.boardKey(station, on: CalendarDay(of: store.now))
    var board: Board?
    try boards.namespace.scan(prefix: key) { _, bytes in
      // One that another version of the program has stored is of no use.
      do { board = try JSONCodec<Board>().decode(bytes) } catch {}
      return false
    }
    return board
  }

  /// The next departures of some stations: at once, after each publication by any process, and whenever one has left.
  ///
  /// - Parameter limit: departures of each station; by default as the settings say.
  public func updates(
    of stations: [String], limit: Int? = nil
  ) -> AsyncThrowingStream<[NextDeparture], any Error> {
    // The subscription begins before the first read, so that no change is missed.
    let changes = next.namespace.changes()
    return AsyncThrowingStream { updates in
      let task = Task {
        let (events, event) = AsyncStream<Result<Void, any Error>>.makeStream(
          bufferingPolicy: .bufferingNewest(1))
        let watch = Task {
          var seen: UInt64?
          for await change in changes {
            if case .ended(let error) = change.kind {
              event.yield(.failure(error))
              break
            }
            // One read shows all changes of a commit.
            if seen != change.transaction { event.yield(.success(())) }
            seen = change.transaction
          }
          event.finish()
        }
        var timer: Task<Void, any Error>?
        defer {
          watch.cancel()
          timer?.cancel()
        }
        do {
          event.yield(.success(()))
          for await outcome in events {
            try outcome.get()
            let departures = try stations.flatMap { try self.departures(from: $0, limit: limit) }
            updates.yield(departures)
            timer?.cancel()
            guard let first = departures.map(\.leaves).min() else { continue }
            let clock = store.clock
            timer = Task {
              try await clock.sleep(until: clock.monotonic + clock.now.duration(to: first))
              event.yield(.success(()))
            }
          }
          updates.finish()
        } catch {
          updates.finish(throwing: error)
        }
      }
      updates.onTermination = { _ in task.cancel() }
    }
  }
}
