public import Larder

/// Errands are done one after the other at low priority. Each tells how it went, and one that fails does not keep the others.
///
/// Iterate them for the progress; end them by ``Prefetch/cancel()``.
extension DeparturesCache {
  /// Fetches today's boards of favourites before anybody asks for them. What is fresh is passed over.
  public func prefetch(_ favourites: [String]) throws -> Prefetch<Errand> {
    try run(favourites.map { .board($0) })
  }

  /// What an app does when it starts: its favourites' boards, and then the names of the ships. Nothing of the widget.
  public func start(_ favourites: [String]) throws -> Prefetch<Errand> {
    try run(favourites.map { .board($0) } + [.ships])
  }

  /// What an app does when it leaves the screen: it tells the widget what leaves next, and fetches the boards of tomorrow, so
  /// that they are there in the morning whatever the network is then. Both for the stations of the widget's settings.
  public func enterBackground() throws -> Prefetch<Errand> {
    let stations = try Widget(store).settings.stations
    if stations.isEmpty { return try run([]) }
    return try run(
      [.ships] + stations.map { .next($0) } + stations.map { .board($0, inDays: 1) })
  }

  /// The pause once so many favourites are loaded: none between the first two, half a second, then a fifth each.
  static func pause(after done: Int) -> Duration {
    switch done {
    case ...1: .zero
    case 2: .milliseconds(500)
    default: .milliseconds(200)
    }
  }

  private func run(_ errands: [Errand]) throws -> Prefetch<Errand> {
    let before = errands.first == .ships ? 1 : 0
    return try Prefetch(
      errands, concurrency: 1, clock: store.clock, priority: .low,
      pause: { Self.pause(after: $0 - before) }, load: perform)
  }

  private func perform(_ errand: Errand) async throws -> Prefetch<Errand>.Step.Outcome {
    switch errand {
    case .board(let station, let days):
      let day = try today.advanced(by: days)
      return outcome(try await board(at: station, on: day, Self.waiting(for: .boards)))
    case .next(let station):
      let board = try await board(at: station, on: today, Self.waiting(for: .boards))
      // The names are there by now, or not to be had.
      let ships = try await shipNames(policy: .cacheOnly).day
      try Widget(store).publish(board.value.next(at: store.now, ships: ships), for: station)
      return outcome(board)
    case .ships:
      if services.boats == nil { return .present }
      return outcome(try await ships(on: today, Self.waiting(for: .ships)))
    }
  }

  private func outcome<Value>(_ loaded: CacheResult<Value>) -> Prefetch<Errand>.Step.Outcome {
    if let error = loaded.error { return .failed(error) }
    return loaded.source == .loaded ? .loaded : .present
  }

  /// What may be shown while a newer one is fetched is not what is wanted ahead: that would be fetched out of turn.
  private static func waiting(
    for shelf: Shelf, policy: RequestPolicy = .standard
  ) -> LoadOptions {
    LoadOptions(policy: policy, stale: .onError(shelf.rules.stale))
  }
}

extension DeparturesCache {
  /// Puts what leaves a station next where the widget reads it. It waits for what is newer: nobody would tell the widget of
  /// what comes later.
  @discardableResult
  public func publish(
    _ station: String, policy: RequestPolicy = .standard
  ) async throws -> [NextDeparture] {
    let board = try await board(at: station, on: today, Self.waiting(for: .boards, policy: policy))
    let next = board.value.next(at: store.now, ships: try await shipNames(policy: policy).day)
    try Widget(store).publish(next, for: station)
    return next
  }
}
