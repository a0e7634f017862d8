import HTTPTypes
import Larder
import LarderHTTP
import TestSupport
import Testing

/// The programs of `Docs/Learn/Cookbook.md`.
@Suite struct CookbookPage {
  private typealias Board = Origin.Board
  private struct Session: Codable, Equatable { var user: Int }
  private struct Point: Equatable { var x, y: UInt8 }

  private let service = Origin()
  private let clock = ManualClock()
  private let store: Store

  init() throws { store = try Store.temporary(options: Store.Options(clock: clock)) }

  @Test func `an HTTP API`() async throws {
    let transport = service
    for isHit in [false, true] {
      let api = HTTPCache(in: store.namespace("api"), over: transport)
      let request = HTTPRequest(
        method: .get, scheme: "https", authority: "api.example.com", path: "/boards/1")
      let answer = try await api.send(request)
      let body = try await answer.body.bytes()
      print(answer.response.status, answer.isHit ? "stored" : "new", body.count, "bytes")
      #expect(answer.isHit == isHit && body == Array("page".utf8))
    }
  }

  @Test func `a decoded answer`() async throws {
    let boards = store.cache(of: Board.self, in: "boards")
    let board = try await boards.value(
      for: "zurich", expires: .after(.minutes(2)), stale: Staleness(onError: .hours(24))
    ) {
      try await service.board("zurich")
    }
    #expect(board == Board(boats: 6))
    _ = try boards.count()
    #expect(try boards.entry(for: "zurich")?.staleUntil != nil)
  }

  @Test func `images`() async throws {
    let rules = Rules(
      expires: .afterAccess(.days(30)), limits: Limits(bytes: .megabytes(200)),
      largestValue: .megabytes(10))
    let images = store.cache(
      of: [UInt8].self, in: "images", rules: rules, memory: MemoryLimits(cost: .megabytes(20)))
    let image = try await images.value(for: "https://example.com/a.png") {
      try await service.download("https://example.com/a.png")
    }
    #expect(image.count == 25)
    _ = try images.count()
    #expect(try images.entry(for: "https://example.com/a.png")?.timeToIdle == .days(30))
  }

  @Test func `sessions`() throws {
    let token = "1234"
    let sessions = store.cache(
      of: Session.self, in: "sessions", rules: Rules(expires: .afterAccess(.minutes(30))))
    var attributes = EntryAttributes()
    attributes.tags = ["user 7"]
    try sessions.set(Session(user: 7), for: token, attributes)

    let session = try sessions.value(for: token)  // nil once it has expired
    let ended = try store.invalidate(tag: "user 7").entries
    #expect(session == Session(user: 7) && ended == 1)
    #expect(try sessions.value(for: token) == nil)
  }

  @Test func `rate limits`() throws {
    let calls = store.namespace("calls")
    func isAllowed(_ client: String) throws -> Bool {
      try calls.increment(client, expires: .after(.minutes(1))) <= 100
    }
    for _ in 0..<100 { #expect(try isAllowed("192.0.2.1")) }
    #expect(try !isAllowed("192.0.2.1"))
    clock.advance(by: .minutes(1))
    #expect(try isAllowed("192.0.2.1"))
  }

  @Test func `an offline-first app and its widget`() throws {
    try withTemporaryDirectory { directory in
      let path = directory + "/app"
      let app = try Store(at: path)
      let tasks = app.cache(of: [String].self, in: "tasks", rules: Rules(eviction: .refuse))
      try tasks.set(["Buy flour", "Call Anna"], for: "today")

      let widget = try Store(at: path, options: Store.Options(readOnly: true))
      let shown = try widget.cache(of: [String].self, in: "tasks").value(for: "today") ?? []
      #expect(shown == ["Buy flour", "Call Anna"])
      try widget.close()
    }
  }

  @Test func `a build cache`() throws {
    let digest = "9f86d081"
    func compile() -> [UInt8] { [1, 2, 3] }
    for _ in 0..<2 {
      let outputs = store.cache(
        of: [UInt8].self, in: "outputs",
        rules: Rules(limits: Limits(bytes: .gigabytes(2)), largestValue: .megabytes(500)),
        memory: .off)
      if let output = try outputs.value(for: digest) {
        print("reused", output.count, "bytes")
      } else {
        try outputs.setIfAbsent(compile(), for: digest)
      }
    }
    #expect(try store.namespace("outputs").value(for: digest) == [1, 2, 3])
  }

  @Test func `answers of a language model`() async throws {
    let model = service
    let prompt = "Why is bread brown?"
    let answers = store.cache(TextCodec(), in: "answers")
    let options = LoadOptions(
      expires: .after(.days(30)), timeout: .seconds(60), tags: ["model small-1"])
    let question = "small-1 t=0 " + prompt
    let reply = try await answers.value(for: question, options: options) {
      try await model.complete(prompt)
    }
    #expect(reply == "An answer to: " + prompt)
    _ = try answers.count()
    #expect(try store.invalidate(tag: "model small-1").entries == 1)
  }

  @Test func `one job for many processes`() throws {
    var runs = 0
    func runImport() throws {
      runs += 1
      #expect(
        try !store.namespace("leases").setIfAbsent(
          [2], for: "nightly import", expires: .after(.minutes(10))))
    }
    let leases = store.cache(TextCodec(), in: "leases")
    let process = "worker-1"
    if try leases.setIfAbsent(process, for: "nightly import", expires: .after(.minutes(10))) {
      try runImport()
      try leases.remove("nightly import")
    }
    #expect(runs == 1)
    #expect(try leases.count() == 0)
  }

  @Test func `many machines`() async throws {
    let prices = store.cache(of: Int.self, in: "prices")
    let price = try await prices.value(
      for: "flour", expires: .after(.seconds(30)), stale: Staleness(onError: .hours(1))
    ) {
      try await service.price("flour")
    }
    #expect(price == 200)
  }

  @Test func `until four in the morning`() throws {
    let timetables = store.cache(TextCodec(), in: "timetables")
    try timetables.set(
      "06:12 Bern", for: "zurich", expires: .daily(at: TimeOfDay(4), in: "Europe/Zurich"))
    let expiry = try timetables.entry(for: "zurich")?.expires
    #expect(try TimeOfDay(of: #require(expiry), in: "Europe/Zurich") == TimeOfDay(4))
  }

  @Test func `two values, one commit`() throws {
    let accounts = store.cache(of: Int.self, in: "accounts")
    try store.write { batch in
      try batch.set(90, for: "anna", in: accounts)
      try batch.set(110, for: "ben", in: accounts)
    }
    let sum = try store.read { snapshot in
      try snapshot.value(for: "anna", in: accounts)!
        + snapshot.value(for: "ben", in: accounts)!
    }
    #expect(sum == 200)
  }

  @Test func `a codec of your own`() throws {
    struct PointCodec: Codec {
      struct Malformed: Error {}
      let id = CodecID(rawValue: 128)
      let isLossless = true  // decoding returns exactly the encoded value

      func encode(_ point: Point) -> [UInt8] { [point.x, point.y] }
      func decode(_ bytes: Span<UInt8>) throws -> Point {
        guard bytes.count == 2 else { throw Malformed() }
        return Point(x: bytes[0], y: bytes[1])
      }
    }

    let points = store.cache(PointCodec(), in: "points")
    try points.set(Point(x: 3, y: 4), for: "home")
    let home = try points.value(for: "home")
    #expect(home == Point(x: 3, y: 4))
    #expect(throws: PointCodec.Malformed.self) { try PointCodec().decode([1].span) }
  }

  @Test func `tests without waiting`() throws {
    let clock = ManualClock()
    let temporary = try Store.temporary(options: Store.Options(clock: clock))
    let notes = temporary.cache(TextCodec(), in: "notes")
    try notes.set("sunny", for: "zurich", expires: .after(.minutes(15)))
    clock.advance(by: .minutes(16))
    let note = try notes.value(for: "zurich")
    #expect(note == nil)
  }
}
