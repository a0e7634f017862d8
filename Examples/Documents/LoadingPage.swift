import Larder
import LarderHTTP
import Testing

/// The programs of `Docs/Use/Loading.md`.
@Suite struct LoadingPage {
  private struct API: Sendable {
    struct Response {
      var body: String?
      var lifetime: Duration
      var entityTag: [UInt8]
    }

    func board(_ station: String) async throws -> String { "board of \(station)" }
    func boards(_ stations: [String]) async throws -> [(station: String, board: String)] {
      stations.reversed().map { ($0, "board of \($0)") }
    }
    func forecast(_ place: String) async throws -> String { "sunny in \(place)" }
    func rates() async throws -> String { "rates" }
    func ship(_ name: String) async throws -> String? { nil }
    func page(_ url: String, unlessMatching tag: [UInt8]?) async throws -> Response {
      let current = Array("\"v1\"".utf8)
      return Response(
        body: tag == current ? nil : "page", lifetime: .minutes(5), entityTag: current)
    }
  }
  private let api = API()

  private func cache(_ name: String) throws -> Larder.Cache<String> {
    try Store.temporary(options: Store.Options(clock: ManualClock())).cache(TextCodec(), in: name)
  }

  @Test func `a value`() async throws {
    let boards = try cache("boards")
    let station = "Thun"
    let board = try await boards.value(for: station, expires: .after(.minutes(2))) {
      try await api.board(station)
    }
    #expect(board == "board of Thun")
  }

  @Test func `a result`() async throws {
    let boards = try cache("boards")
    let station = "Thun"
    let result = try await boards.result(
      for: station,
      options: LoadOptions(
        expires: .after(.minutes(2)),
        stale: Staleness(whileRevalidating: .minutes(10), onError: .hours(24)))
    ) { try await api.board(station) }
    print(result.value, result.source, result.age, result.isStale, result.error as Any)
    #expect(result.value == "board of Thun" && result.source == .loaded)
  }

  @Test func `a commit that is waited for`() async throws {
    let days = try cache("days")
    let options = LoadOptions(expires: .after(.hours(1)), waitsForCommit: true)
    let rates = try await days.result(for: "today", options: options) { try await api.rates() }
    #expect(rates.isCommitted && rates.source == .loaded)
  }

  @Test func `options`() async throws {
    let forecasts = try cache("forecasts")
    let options = LoadOptions(
      policy: .cacheElseLoad, expires: .after(.hours(6)), refreshAhead: .minutes(30))
    let weather = try await forecasts.value(for: "thun", options: options) {
      try await api.forecast("thun")
    }
    #expect(weather == "sunny in thun")
  }

  @Test func `a kept loader`() async throws {
    typealias Board = String
    let store = try Store.temporary(options: Store.Options(clock: ManualClock()))
    let boards = store.cache(of: Board.self, in: "boards")
      .loading(options: LoadOptions(expires: .after(.minutes(2)))) { (station: String, stored) in
        .value(try await api.board(station))
      }
    let board = try await boards.value(for: "thun")
    let newer = try await boards.refresh("thun")
    #expect(board == "board of thun" && newer == board)
    let prefetched = try boards.prefetch(["thun", "Biel"])
    let summary = await prefetched.finish()
    #expect(summary.present == 1 && summary.loaded == 1)
  }

  @Test func `a value that may not exist`() async throws {
    let ships = try cache("ships")
    let ship = try await ships.value(
      for: "MS Jungfrau", options: LoadOptions(expires: .never, absent: .after(.hours(1)))
    ) { _ in try await api.ship("MS Jungfrau").map { .value($0) } ?? .absent }
    #expect(ship == nil)
    _ = try ships.count()
    #expect(try ships.entry(for: "MS Jungfrau")?.isNegative == true)
  }

  @Test func `a revalidation`() async throws {
    let clock = ManualClock()
    let pages = try Store.temporary(options: Store.Options(clock: clock)).cache(
      TextCodec(), in: "pages")
    let url = "https://example.org/1"
    for _ in 0..<2 {
      let page = try await pages.result(
        for: url, options: LoadOptions(stale: Staleness(onError: .days(30)))
      ) { stored in
        let response = try await api.page(url, unlessMatching: stored?.validators.entityTag)
        guard let body = response.body else { return .unchanged }
        return Loaded(
          body, expires: .after(response.lifetime),
          validators: Validators(entityTag: response.entityTag))
      }
      #expect(page?.value == "page")
      clock.advance(by: .minutes(5))
    }
  }

  @Test func `many keys`() async throws {
    let boards = try cache("boards")
    let stations = ["Thun", "Biel"]
    let found = try await boards.values(
      for: stations, options: LoadOptions(expires: .after(.minutes(2)), absent: .after(.hours(1)))
    ) { missing in
      try await api.boards(missing.map { $0.key }).map { ($0.station, .value($0.board)) }
    }
    #expect(found == ["board of Thun", "board of Biel"])
  }

  @Test func `a realm`() async throws {
    typealias Board = String
    let store = try Store.temporary(options: Store.Options(clock: ManualClock()))
    let (token, board) = ("secret", "board of Thun")
    let realm = store.realm(of: token)
    let boards = realm.cache(of: Board.self, in: "boards")
    try await boards.set(board, for: "thun")
    try realm.clear()
    #expect(try boards.count() == 0)
  }

  @Test func `a prefetch`() async throws {
    let clock = SystemClock()
    let boards = try Store.temporary(options: Store.Options(clock: clock)).cache(
      TextCodec(), in: "boards")
    let favourites = ["Thun"]
    let prefetch = try boards.prefetch(favourites, concurrency: 1, pause: .seconds(0.2)) {
      station, stored in
      .value(try await api.board(station))
    }
    for await step in prefetch { print("\(step.done) of \(step.total)") }
    #expect(await prefetch.finish().loaded == 1)
  }

  @Test func `tags`() throws {
    let pages = try cache("pages")
    let store = pages.namespace.store
    let url = "https://example.org/1"
    var attributes = EntryAttributes(expires: .after(.days(1)))
    attributes.tags = ["user 7", "catalog"]
    try pages.namespace.set(Array("page".utf8), for: url, attributes)
    let catalog = try pages.keys(tags: ["user 7", "catalog"])
    let removed = try store.invalidate(tag: "user 7")
    #expect(catalog == [Key(url)])
    #expect(removed == RemovalResult(entries: 1, bytes: 4))
  }
}
