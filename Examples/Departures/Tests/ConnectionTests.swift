import ExampleTesting

@testable import Departures

/// Ways from one station to another: who asks the same, and who does not.
@Suite(.checkedStores) struct ConnectionTests {
  private let clock = ManualClock()
  private let store: Store

  init() throws {
    clock.set(to: try moment("2025-07-12T08:00:30+0200"))
    store = try Store.tested(clock: clock)
  }

  /// Answers with ways that leave so many minutes after the one that was asked for, and names who asked.
  private static func answer(_ request: LocalServer.Received, minutes: Range<Int64>)
    -> LocalServer.Answer
  {
    let (from, to) = (request.parameter("from") ?? "", request.parameter("to") ?? "")
    let (day, time) = (request.parameter("date") ?? "", request.parameter("time") ?? "")
    // A time that comes twice is the first one.
    let zone = "\(day)T\(time)" < "2026-10-25T03:00" ? "+0200" : "+0100"
    let asked = "\(day)T\(time):00\(zone)"
    let start = (SwissTime.moment(asked)?.milliseconds ?? 0) / 1000
    let ways = minutes.map { minute in
      """
      {"from": {"station": {"id": "1", "name": "\(from)"}, "departureTimestamp": \(start + minute * 60)},
       "to": {"station": {"id": "2", "name": "\(to)"}, "arrivalTimestamp": \(start + 3600)},
       "sections": [{"journey": null,
         "departure": {"station": {"id": "1", "name": "\(from)"}}, "arrival": {"station": {"id": "2", "name": "\(to)"}}}]}
      """
    }
    return .init(200, text: #"{"connections": [\#(ways.joined(separator: ", "))]}"#)
  }

  private func run(
    minutes: Range<Int64> = 0..<2, _ body: (LocalServer, DeparturesCache) async throws -> Void
  ) async throws {
    try await LocalServer.run { server in
      server.become { Self.answer($0, minutes: minutes) }
      try await body(server, try DeparturesCache(store, services: server.services(in: store)))
    }
  }

  private func time(_ clock: String) throws -> Timestamp {
    try moment("2025-07-12T\(clock):00+0200")
  }

  @Test func `a request serves until the next full minute`() async throws {
    try await run(minutes: 0..<6) { server, cache in
      let first = try await cache.connections(from: "1", to: "2")
      #expect(first.source == .loaded && first.value.connections.count == 6)
      clock.advance(by: .seconds(30))
      let again = try await cache.connections(from: "1", to: "2")
      #expect(again.source == .memory && again.value == first.value, "one leaves now")
      clock.advance(by: .milliseconds(1))
      let next = try await cache.connections(from: "1", to: "2").value.connections
      #expect(next.map(\.departure).first == (try time("08:02")))
      #expect(server.received.map { $0.parameter("time") } == ["08:01", "08:02"])
    }
  }

  @Test func `without a network the nearest stored ways are stale`() async throws {
    let base = try await LocalServer.run { server in
      server.become { Self.answer($0, minutes: 0..<40) }
      let cache = try DeparturesCache(store, services: server.services(in: store))
      _ = try await cache.connections(from: "1", to: "2")
      clock.advance(by: .minutes(6))
      _ = try await cache.connections(from: "1", to: "2")
      return server
    }
    // The server is gone.
    let cache = try DeparturesCache(store, services: base.services(in: store))
    clock.advance(by: .minutes(20))
    let ways = try await cache.connections(from: "1", to: "2")
    #expect(ways.source == .stale && (ways.error as? ServiceError)?.isOffline == true)
    #expect(ways.age == .minutes(20), "the newer of the two")
    #expect(ways.value.connections.map(\.departure).first == (try time("08:27")))
    await #expect(throws: ServiceError.self) { try await cache.connections(from: "2", to: "1") }
    clock.set(to: try time("07:30"))
    let early = try await cache.connections(from: "1", to: "2")
    #expect(early.source == .stale && early.age == .zero, "after a clock that is set back")
  }

  @Test(arguments: [(500, ""), (503, ""), (429, ""), (200, "<html>")])
  func `an answer that is of no use leaves the stored ways`(status: Int, body: String) async throws
  {
    try await run(minutes: 0..<40) { server, cache in
      _ = try await cache.connections(from: "1", to: "2")
      clock.advance(by: .minutes(3))
      server.become { _ in .init(status, ["Retry-After": "3600"], text: body) }
      let ways = try await cache.connections(from: "1", to: "2")
      #expect(ways.source == .stale && ways.error is ServiceError && ways.age == .minutes(3))
      server.become { _ in .init(404) }
      clock.advance(by: .minutes(1))
      await #expect(throws: ServiceError.self) { try await cache.connections(from: "1", to: "2") }
    }
  }

  @Test func `a station that is null is not known, and parts that cannot be read are counted`()
    async throws
  {
    try await LocalServer.run { server in
      let cache = try DeparturesCache(store, services: server.services(in: store))
      server.become { _ in
        .init(200, text: #"{"connections": [], "from": {"id": "1"}, "to": null}"#)
      }
      await #expect(throws: NotFound(key: "the station 2", place: "the timetable")) {
        try await cache.connections(from: "1", to: "2")
      }
      let end =
        #"{"station": {"id": "1"}, "departure": "2025-07-12T08:30:00+0200", "arrival": "2025-07-12T09:00:00+0200"}"#
      let good =
        #"{"journey": {"category": "IC", "number": "IC 738"}, "departure": \#(end), "arrival": \#(end)}"#
      let parts =
        #"\#(good), {"journey": 7, "departure": \#(end), "arrival": \#(end)}, {"departure": {}, "arrival": {}}, null"#
      server.become { _ in
        .init(
          200,
          text: #"{"connections": [{"from": \#(end), "to": \#(end), "sections": [\#(parts)]}]}"#)
      }
      let way = try await cache.connections(from: "1", to: "3").value.connections[0]
      #expect(way.legs.map(\.line) == ["IC 738"] && way.unreadable == 3)
    }
  }

  @Test func `ways that have left are never shown`() async throws {
    try await run(minutes: -9..<1) { _, cache in
      let ways = try await cache.connections(from: "1", to: "2").value.connections
      #expect(ways.map(\.departure) == [try time("08:01")])
    }
  }

  @Test func `a late way stays until it leaves, and cancelled ones and those left out are named`()
    async throws
  {
    func stop(_ time: String, _ more: String = "") -> String {
      #"{"departure": "2025-07-12T\#(time):00+0200", "arrival": "2025-07-12T\#(time):00+0200"\#(more)}"#
    }
    func late(_ time: String) -> String {
      #", "prognosis": {"departure": "2025-07-12T\#(time):00+0200", "arrival": "2025-07-12T\#(time):00+0200"}"#
    }
    let off = #"{"journey": {"cancelled": 1}, "departure": {}, "arrival": {}}"#
    let ways = [
      #"{"from": \#(stop("07:59", late("08:04"))), "to": \#(stop("09:00", late("09:02")))}"#,
      #"{"from": \#(stop("08:00", #", "delay": "+2""#)), "to": \#(stop("09:00"))}"#,
      #"{"from": \#(stop("08:00", #", "delay": -1"#)), "to": \#(stop("09:00"))}"#,
      #"{"from": \#(stop("08:20")), "to": \#(stop("09:00")), "sections": [\#(off)]}"#,
      #"{"from": \#(stop("08:30", #", "delay": "X""#)), "to": \#(stop("09:00"))}"#,
      #"{"from": {}, "to": {}}"#, "1",
    ]
    try await LocalServer.run { server in
      server.become { _ in .init(200, text: #"{"connections": [\#(ways.joined(separator: ","))]}"#)
      }
      let cache = try DeparturesCache(store, services: server.services(in: store))
      let found = try await cache.connections(from: "1", to: "2").value
      #expect(
        try found.connections.map(\.leaves) == ["08:04", "08:02", "08:20", "08:30"].map(time))
      #expect(found.connections.map { $0.isCancelled == true } == [false, false, true, true])
      #expect(try found.connections[0].expectedArrival == time("09:02"))
      #expect(found.connections[2].expectedDeparture == nil && found.skipped?.count == 2)
      #expect(found.gap?.hasSuffix("; a way has no times") == true, "\(found.gap ?? "")")
      clock.advance(by: .minutes(2))
      let later = try await cache.connections(from: "1", to: "2").value
      #expect(try later.connections.map(\.leaves) == ["08:04", "08:20", "08:30"].map(time))
    }
  }

  @Test func `in the second of two equal hours the ways after it are asked for`() async throws {
    clock.set(to: try moment("2026-10-25T02:30:00+0200"))
    try await run { server, cache in
      #expect(try await cache.connections(from: "1", to: "2").value.connections.count == 2)
      clock.advance(by: .minutes(60))
      let ways = try await cache.connections(from: "1", to: "2").value.connections
      #expect(ways.map(\.departure).first == (try moment("2026-10-25T03:00:00+0100")))
      // The stale answer of an hour before may be refreshed meanwhile.
      #expect(Set(server.received.map { $0.parameter("time") }) == ["02:30", "03:00"])
    }
  }

  @Test func `different names never meet, whatever is in them`() async throws {
    let names = [
      "a", "b", "a_b", "b_2025", "a&to=b", "a%26", "", "_", "a b", "Z\u{FC}rich", "Zu\u{308}rich",
    ]
    try await run { server, cache in
      for from in names {
        for to in names {
          let ways = try await cache.connections(from: from, to: to).value.connections
          let leg = try #require(ways.first?.legs.first)
          #expect(leg.from.station.name.utf8.elementsEqual(from.utf8))
          #expect(leg.to.station.name.utf8.elementsEqual(to.utf8))
        }
      }
      #expect(server.count == names.count * names.count)
    }
  }
}
