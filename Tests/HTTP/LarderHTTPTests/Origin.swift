import HTTPTypes
import Larder
import Synchronization
import TestSupport
import Testing

@testable import LarderHTTP

/// An origin without a network, which records its requests.
final class Origin: HTTPTransport {
  struct Down: Error {}
  typealias Answer = @Sendable (HTTPRequest, Int) async throws -> (HTTPResponse, HTTPBody)
  private let requests = Mutex<[HTTPRequest]>([])
  private let answer: Mutex<Answer>

  init(_ answer: @escaping Answer = { _, _ in throw Down() }) { self.answer = Mutex(answer) }

  var received: [HTTPRequest] { requests.withLock { $0 } }
  var count: Int { received.count }

  func wait(for number: Int) async throws { try await waitUntil { count >= number } }

  func become(_ answer: @escaping Answer) { self.answer.withLock { $0 = answer } }

  func become(_ other: Origin) { become(other.answer.withLock { $0 }) }

  func send(
    _ request: HTTPRequest, body: HTTPBody,
    interim: @escaping @Sendable (HTTPResponse) async -> Void
  ) async throws -> (HTTPResponse, HTTPBody) {
    let number = requests.withLock { requests in
      requests.append(request)
      return requests.count
    }
    return try await answer.withLock { $0 }(request, number)
  }

  static func giving(_ fields: Pairs, _ body: @escaping @Sendable () -> HTTPBody) -> Origin {
    Origin { _, _ in (response(200, fields), body()) }
  }

  /// An origin that waits until the gate opens, and then answers like another origin.
  static func behind(_ gate: Gate, _ other: Origin = Origin()) -> Origin {
    Origin { request, number in
      await gate.wait()
      return try await other.answer.withLock { $0 }(request, number)
    }
  }

  /// An origin whose responses vary by a field of the request. The body and the tag are the value of this field.
  static func varying(by name: String) -> Origin {
    Origin { request, _ in
      let value = request.headerFields[HTTPField.Name(name)!] ?? "none"
      let fields: Pairs = [
        ("Cache-Control", "max-age=100000"), ("Vary", name), ("ETag", "\"\(value)\""),
      ]
      return (response(200, fields), HTTPBody(value))
    }
  }

  static func echo(_ fields: Pairs = [("Cache-Control", "max-age=100")]) -> Origin {
    Origin { request, number in (response(200, fields), HTTPBody("\(request.path ?? "") \(number)"))
    }
  }

  /// An origin that always answers with the same fields, and with 304 to a request that has the tag.
  static func page(_ fields: Pairs, body: String = "body") -> Origin {
    let tag = HTTPFields(fields)[.eTag]
    return Origin { request, _ in
      if let tag, request.headerFields[.ifNoneMatch] == tag {
        return (response(304, fields), HTTPBody())
      }
      return (response(200, fields), HTTPBody(body))
    }
  }

  static func page(_ control: String, _ fields: Pairs = [], body: String = "body") -> Origin {
    page([("Cache-Control", control)] + fields, body: body)
  }
}

final class Echo: HTTPTransport {
  private let texts = Mutex<[String]>([])
  let fields: Pairs

  init(_ fields: Pairs = [("Cache-Control", "max-age=100")]) { self.fields = fields }

  var bodies: [String] { texts.withLock { $0 } }

  func send(
    _ request: HTTPRequest, body: HTTPBody,
    interim: @escaping @Sendable (HTTPResponse) async -> Void
  ) async throws -> (HTTPResponse, HTTPBody) {
    let text = try await body.text()
    let number = texts.withLock {
      $0.append(text)
      return $0.count
    }
    return (response(200, fields), HTTPBody("\(number) \(text.prefix(9))"))
  }
}

/// A cache over a temporary store, its origin and its clock. `deinit` verifies the store.
final class Fixture: Sendable {
  let store: Store
  let clock: ManualClock
  let origin: Origin
  let cache: HTTPCache

  /// - Parameter transport: the transport of the cache. Nil means the origin itself.
  init(
    _ origin: Origin = Origin(), over transport: (any HTTPTransport)? = nil,
    policy: HTTPCachePolicy = HTTPCachePolicy(), clock: ManualClock = ManualClock(),
    report: @escaping @Sendable (any Error) -> Void = { _ in }
  ) throws {
    self.origin = origin
    self.clock = clock
    store = try Store.temporary(options: Store.Options(clock: clock, lockTimeout: .ample))
    cache = HTTPCache(
      in: store.namespace("http"), over: transport ?? origin, policy: policy, report: report)
  }

  /// A fixture that stored the origin's response `age` ago.
  static func filled(
    _ origin: Origin, policy: HTTPCachePolicy = HTTPCachePolicy(), age: Duration = .zero
  ) async throws -> Fixture {
    let fixture = try Fixture(origin, policy: policy)
    _ = try await fixture.get()
    fixture.clock.advance(by: age)
    return fixture
  }

  deinit { do { #expect(try store.verify().faults == []) } catch { Issue.record(error) } }

  func get(_ path: String = "/a", _ fields: Pairs = []) async throws -> (
    result: HTTPCacheResult, body: String
  ) {
    let result = try await cache.send(request("GET", path, fields))
    return (result, try await result.body.text())
  }

  /// Whether the cache answers a request from the store. Reads the whole body.
  func isHit(_ request: HTTPRequest) async throws -> Bool {
    let result = try await cache.send(request)
    _ = try await result.body.bytes()
    return result.isHit
  }

  func purge(after time: Duration) throws {
    clock.advance(by: time)
    _ = try store.purge()
  }

  /// Waits until `number` requests wait for the responses to other requests.
  func waiting(for number: Int) async throws {
    try await waitUntil { cache.flights.callers() >= number }
  }
}

extension HTTPBody {
  init(_ text: String) { self.init(Array(text.utf8)) }

  func text() async throws -> String { String(decoding: try await bytes(), as: UTF8.self) }

  typealias Step = @Sendable () async throws -> [UInt8]?

  static func steps(_ steps: [Step]) -> HTTPBody {
    let rest = Mutex(steps[...])
    return HTTPBody(next: { try await rest.withLock { $0.popFirst() }?() })
  }

  static var pieces: HTTPBody {
    steps((0..<5).map { number in { [UInt8](repeating: number, count: 1000) } })
  }
}

actor Gate {
  private var isOpen = false
  private var waiting: [CheckedContinuation<Void, Never>] = []

  func wait() async { if !isOpen { await withCheckedContinuation { waiting.append($0) } } }

  func wait(for piece: [UInt8]?) async -> [UInt8]? {
    await wait()
    return piece
  }

  func open() {
    isOpen = true
    for continuation in waiting { continuation.resume() }
    waiting = []
  }

  func openAndStall() async throws -> Never {
    open()
    try await Task.sleep(for: .seconds(1_000_000))
    fatalError("nobody has cancelled this")
  }
}
