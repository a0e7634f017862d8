import Foundation
import HTTPTypes
import Larder
import LarderURLSession
import Synchronization
import TestSupport
import Testing

@testable import LarderHTTP

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// Tests of answers by a network instead of the origin (login pages), of answers that ask the client to wait, and of failures.
struct ExpectationTests {
  private static let good: Pairs = [
    ("Content-Type", "application/json; charset=utf-8"), ("Cache-Control", "max-age=10"),
    ("ETag", "\"1\""),
  ]
  private static let policy = HTTPCachePolicy(
    rules: [HTTPCacheRule("example.com/*", expectedTypes: ["application/json"])])

  @Test(
    arguments: [
      (200, [("Content-Type", "text/html"), ("Cache-Control", "max-age=1000")]), (200, []),
      (511, [("Content-Type", "application/json")]),
      (301, [("Location", "http://login.example/?from=example.com")]),
    ])
  func `a login page is refused, and changes nothing`(_ status: Int, _ fields: Pairs) async throws {
    let fixture = try Fixture(.page(Self.good, body: "{}"), policy: Self.policy)
    #expect(try await fixture.get().body == "{}")
    fixture.clock.advance(by: .seconds(11))
    fixture.origin.become { _, _ in (response(status, fields), HTTPBody("<html>")) }
    let stale = try await fixture.get()
    #expect(stale.body == "{}" && stale.result.reason == .staleDisconnected)
    #expect(try await !fixture.cache.put(response(status, fields), body: [1], for: request()))
    #expect(try fixture.cache.peek(request()) != nil)
    for isPassed in [false, true] {
      let error = try await #require(throws: HTTPCacheError.self) {
        try await isPassed
          ? fixture.cache.pass(request("GET", "/b")) : fixture.cache.send(request("GET", "/b"))
      }
      #expect(error.isOffline && error.isRetryable && !error.isInsecure)
      #expect("\(error)".contains("login page"))
    }
    #expect(try fixture.store.namespace("http").count() == 1)
    fixture.origin.become { _, _ in (response(200, Self.good), HTTPBody("[]")) }
    #expect(try await fixture.get("/b").body == "[]")
  }

  @Test func `errors, other methods and redirections of the origin pass`() async throws {
    let fixture = try Fixture(.page([]), policy: Self.policy)
    for (status, fields) in [
      (404, [("Content-Type", "text/html")]), (302, [("Location", "/other")]), (204, []),
      (206, [("Content-Type", "multipart/byteranges; boundary=a")]),
    ] as [(Int, Pairs)] {
      fixture.origin.become { _, _ in (response(status, fields), HTTPBody()) }
      #expect(try await fixture.get().result.response.status.code == status)
    }
    fixture.origin.become { _, _ in (response(200, []), HTTPBody()) }
    #expect(try await fixture.cache.send(request("POST")).response.status.code == 200)
  }

  @Test(arguments: [
    (429, "7", 7), (503, "0", 0), (429, "99999999999999999999", 1 << 31), (200, "7", nil),
    (429, "-5", nil), (429, "soon", nil), (429, "", nil), (503, "Thu, 01 Jan 2026 00:00:11 GMT", 6),
    (503, "Sun, 06 Nov 1994 08:49:37 GMT", 0),
  ])
  func `a wait is seconds or a date by the origin's clock`(
    _ status: Int, _ text: String, _ seconds: Int?
  ) {
    let fields = [("Retry-After", text), ("Date", "Thu, 01 Jan 2026 00:00:05 GMT")]
    let now = start.advanced(by: .days(3))
    #expect(response(status, fields).retryAfter(at: now) == seconds.map { .seconds($0) })
  }

  @Test func `a request waits as long as the origin asks, and is sent once more`() async throws {
    let policy = HTTPCachePolicy(timeout: .seconds(10_000), longestWait: .seconds(60))
    let fixture = try Fixture(.page([]), policy: policy)
    fixture.origin.become { _, number in
      number == 1
        ? (response(429, [("Retry-After", "30")]), HTTPBody())
        : (response(200, [("Cache-Control", "max-age=29")]), HTTPBody([1]))
    }
    let clock = fixture.clock
    let task = Task { try await fixture.get().result.response.status.code }
    try await fixture.origin.wait(for: 1)
    try await waitUntil {
      clock.advance(by: .seconds(1))
      try await Task.sleep(for: .milliseconds(1))
      return fixture.origin.count == 2
    }
    #expect(try await task.value == 200)
    #expect(try await fixture.get().result.isHit, "the wait is no age")
    fixture.origin.become { _, _ in (response(503, [("Retry-After", "61")]), HTTPBody()) }
    #expect(try await fixture.get("/b").result.response.status.code == 503)
    #expect(fixture.origin.count == 3)
  }

  @Test func `nothing waits where a stored response may be served`() async throws {
    let policy = HTTPCachePolicy(longestWait: .seconds(60))
    let fixture = try await Fixture.filled(
      .page("max-age=1, stale-if-error=60"), policy: policy, age: .seconds(2))
    fixture.origin.become { _, _ in (response(503, [("Retry-After", "30")]), HTTPBody()) }
    #expect(try await fixture.get().body == "body")
    #expect(fixture.origin.count == 2)
  }

  @Test func `every failure has a kind`() {
    let kinds: [(URLError.Code, TransportFailureKind)] = [
      (.cannotFindHost, .offline), (.notConnectedToInternet, .offline), (.timedOut, .interrupted),
      (.networkConnectionLost, .interrupted), (.badServerResponse, .unusable),
    ]
    for (code, kind) in kinds { #expect(URLError(code).failure == kind) }
    let insecure: [URLError.Code] = [
      .secureConnectionFailed, .serverCertificateUntrusted, .serverCertificateHasBadDate,
      .serverCertificateHasUnknownRoot, .serverCertificateNotYetValid, .clientCertificateRejected,
      .clientCertificateRequired,
    ]
    for code in insecure { #expect(URLError(code).failure == .insecure) }
    #expect(HTTPCacheError.timedOut(.seconds(1)).isRetryable)
    #expect(!HTTPCacheError.tooManyFields(2000).isRetryable)
  }

  @Test func `a load asks with the validators of the stored value`() async throws {
    let fixture = try Fixture(.page(Self.good))
    let pages = fixture.store.cache(of: String.self, in: "pages")
    let statuses = Mutex([Int]())
    for _ in 0..<2 {
      let page = try await pages.result(
        for: "a", options: LoadOptions(stale: Staleness(onError: .days(1)), waitsForCommit: true)
      ) { known in
        let answer = try await fixture.cache.pass(
          with(request()) { $0.headerFields = known?.conditionalFields ?? [:] })
        statuses.withLock { $0.append(answer.response.status.code) }
        if answer.response.status == .notModified { return .unchanged }
        let text = try await answer.body.text()
        return Loaded(
          text, expires: .after(.seconds(5)), validators: Validators(of: answer.response))
      }
      #expect(page?.value == "body")
      fixture.clock.advance(by: .seconds(6))
    }
    #expect(statuses.withLock { $0 } == [200, 304])
  }
}
