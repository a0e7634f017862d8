public import Larder

extension DeparturesCache {
  /// The pause once so many favourites are loaded: none between the first two, half a second, then a fifth each.
  static func pause(after done: Int) -> Duration {
    switch done {
    case ...1: .zero
    case 2: .milliseconds(500)
    default: .milliseconds(200)
    }
  }

  /// Fetches today's boards of favourites, one after the other, before anybody asks for them. What is fresh is passed over.
  ///
  /// Iterate it for the progress; cancel it by ``Prefetch/cancel()``.
  public func prefetch(_ favourites: [String]) -> Prefetch<String> {
    // One that may be shown while a newer one is fetched is not what is wanted here: that would be fetched out of turn.
    let options = LoadOptions(stale: .onError(Shelf.boards.rules.stale))
    return Prefetch(
      favourites, concurrency: 1, clock: store.clock, priority: .low, pause: Self.pause(after:),
      load: { station in
        let loaded = try await board(at: station, on: today, options)
        if let error = loaded.error { return .failed(error) }
        return loaded.source == .loaded ? .loaded : .present
      })
  }

  /// What an app does when it starts: its favourites' boards, and the names of the ships. Nothing of the widget.
  public func start(_ favourites: [String]) async throws -> Prefetch<String>.Summary {
    let boards = prefetch(favourites)
    _ = try await ships()
    return await boards.finish()
  }

  /// What an app does when it leaves the screen: it tells the widget what leaves next.
  @discardableResult
  public func enterBackground() async throws -> Int {
    let widget = Widget(store)
    var published = 0
    for station in try widget.settings.stations {
      published += try await publish(station).count
    }
    return published
  }

  /// Puts what leaves a station next where the widget reads it.
  @discardableResult
  public func publish(
    _ station: String, policy: RequestPolicy = .standard
  ) async throws -> [NextDeparture] {
    // Nobody would tell the widget of what comes later.
    let options = LoadOptions(policy: policy, stale: .onError(Shelf.boards.rules.stale))
    let board = try await board(at: station, on: today, options).value
    let ships = try await ships().value
    let next = board.upcoming(at: store.now).prefix(Widget.most).map { departure in
      NextDeparture(departure, from: board.station, ship: ships.ship(of: departure))
    }
    try Widget(store).publish(Array(next), for: station)
    return Array(next)
  }
}
