public import Larder

/// A request that is made before its result is needed.
public enum Errand: Hashable, Sendable, CustomStringConvertible {
  /// Fetches the board of a station, of today or of a day `inDays` later.
  case board(String, inDays: Int = 0)
  case ships
  /// Writes the next departures of a station for the widget. Uses only stored boards.
  case widget(String)

  public var description: String {
    switch self {
    case .board(let station, let days): station + (days == 0 ? "" : " in \(days) d")
    case .ships: "names of ships"
    case .widget(let station): "widget of \(station)"
    }
  }
}

/// Sends requests before their results are needed, one by one and with low priority. Each request has its own outcome. Iterate
/// over the progress, or cancel the requests by `Prefetch.cancel()`.
extension DeparturesCache {
  /// For the start of an app: fetches the boards of today for the favourites if they are not fresh. Does not update the widget.
  public func prefetch(_ favourites: [String]) throws -> Prefetch<Errand> {
    try run(favourites.map { .board($0) })
  }

  /// For an app that goes to the background: fetches the boards of today and tomorrow and the ships, and then updates the
  /// widget. So the boards of the next morning are in the store even without a network.
  public func enterBackground(_ stations: [String]) throws -> Prefetch<Errand> {
    let boards = (0...1).flatMap { day in stations.map { Errand.board($0, inDays: day) } }
    return try run(boards + [.ships] + stations.map { .widget($0) })
  }

  private func run(_ errands: [Errand]) throws -> Prefetch<Errand> {
    var ahead = self
    ahead.waitsForNewer = true
    return try Prefetch(
      errands, concurrency: 1, clock: store.clock, priority: .low,
      pause: { done in done < 2 ? .zero : .milliseconds(done == 2 ? 500 : 200) },
      load: { [ahead] errand in
        switch errand {
        case .board(let station, let days):
          return try await ahead.board(at: station, on: ahead.today.advanced(by: days)).outcome
        case .ships: return try await ahead.ships().outcome
        case .widget(let station):
          try await ahead.publish(station)
          return .present
        }
      })
  }
}

extension CacheResult {
  fileprivate var outcome: Prefetch<Errand>.Step.Outcome {
    if let error { return .failed(error) }
    return source == .loaded ? .loaded : .present
  }
}
