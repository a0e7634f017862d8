import HTTPTypes
import Larder
import Synchronization

@testable import LarderHTTP

/// 2026-01-01 00:00 UTC.
let start = Timestamp(milliseconds: 1_767_225_600_000)

typealias Pairs = [(String, String)]

extension HTTPFields {
  init(_ pairs: Pairs) {
    self.init()
    for (name, value) in pairs {
      append(HTTPField(name: HTTPField.Name(name)!, lenientValue: Array(value.utf8)))
    }
  }
}

func request(
  _ method: String = "GET", _ path: String = "/a", _ fields: Pairs = [],
  host: String = "example.com", scheme: String = "https"
) -> HTTPRequest {
  HTTPRequest(
    method: .init(method)!, scheme: scheme, authority: host, path: path,
    headerFields: HTTPFields(fields))
}

func request(_ fields: Pairs) -> HTTPRequest { request("GET", "/a", fields) }

/// A request to the local server with this base URL.
func request(_ method: String = "GET", _ path: String = "/a", at base: String) -> HTTPRequest {
  request(method, path, host: String(base.dropFirst("http://".count)), scheme: "http")
}

func response(_ status: Int = 200, _ fields: Pairs = []) -> HTTPResponse {
  HTTPResponse(status: .init(code: status), headerFields: HTTPFields(fields))
}

func date(_ offset: Int) -> String { HTTPDate(start.advanced(by: .seconds(offset))).text }

/// A cache without a store: it has the rules, and the responses that the rules let it keep.
final class HTTPHarness {
  struct Result {
    var status: Int
    var fields: HTTPFields
    var body: String
    /// The reason why the cache answered. Nil if the cache passed on the answer of the origin.
    var reason: CacheAnswer.Reason?
    /// The requests to the origin for this answer.
    var sent: [HTTPRequest]
    var isFromCache: Bool { reason != nil && sent.isEmpty }
  }

  var rules = HTTPRules()
  var now = start
  var held: [String: (response: StoredResponse, body: [UInt8])] = [:]
  /// How long each answer of the origin takes.
  var delay = Duration.zero

  init() {}

  /// A cache that sent a request `age` seconds ago and got a response with these fields. The default request is a plain GET.
  init(
    holding fields: Pairs, status: Int = 200, body: String = "body", request: HTTPRequest? = nil,
    age: Int = 0
  ) {
    prime(fields, status: status, body: body, request: request)
    wait(age)
  }

  convenience init(
    holding control: String, _ fields: Pairs = [], status: Int = 200, body: String = "body",
    request: HTTPRequest? = nil, age: Int = 0
  ) {
    self.init(
      holding: [("Cache-Control", control)] + fields, status: status, body: body, request: request,
      age: age)
  }

  func wait(_ seconds: Int) { now = now.advanced(by: .seconds(seconds)) }

  /// Sends the request, and stores the response if the rules allow this. The default request is a plain GET.
  func prime(_ fields: Pairs, status: Int = 200, body: String = "body", request: HTTPRequest? = nil)
  { _ = ask(request ?? LarderHTTPTests.request()) { _ in (response(status, fields), body) } }

  func prime(
    _ control: String, _ fields: Pairs = [], status: Int = 200, body: String = "body",
    request: HTTPRequest? = nil
  ) { prime([("Cache-Control", control)] + fields, status: status, body: body, request: request) }

  /// Whether the cache answers a request without the origin.
  func isHit(_ request: HTTPRequest = LarderHTTPTests.request()) -> Bool {
    ask(request).isFromCache
  }

  /// Whether the cache answers a request without the origin for the next `seconds` seconds, but no longer.
  func isFresh(for seconds: Int) -> Bool {
    wait(seconds - 1)
    let isFresh = isHit()
    wait(1)
    return isFresh && !isHit()
  }

  /// The answer to a request. If no origin is passed, the origin answers every request with the status 599.
  func ask(
    _ request: HTTPRequest = LarderHTTPTests.request(),
    _ origin: (HTTPRequest) throws -> (HTTPResponse, String) = { _ in (response(599), "") }
  ) -> Result {
    let key = ResponseKey(request)!
    let entries = held.filter { $0.key == key.base || $0.key.hasPrefix(key.variantPrefix) }
      .sorted { $0.key < $1.key }
    let (stored, bodies) = (entries.map(\.value.response), entries.map(\.value.body))
    switch rules.decide(request, stored: stored, at: now) {
    case .answer(let answer): return result(answer, bodies: bodies, received: [], sent: [])
    case .answerWhileRevalidating(let answer, let forward):
      let refreshed = exchange(forward, entries.map(\.key), bodies, origin)
      return result(answer, bodies: bodies, received: [], sent: refreshed.sent)
    case .forward(let forward): return exchange(forward, entries.map(\.key), bodies, origin)
    }
  }

  private func exchange(
    _ forward: CacheForward, _ keys: [String], _ bodies: [[UInt8]],
    _ origin: (HTTPRequest) throws -> (HTTPResponse, String)
  ) -> Result {
    let requested = now
    guard let (response, text) = try? origin(forward.request) else {
      guard let answer = rules.fail(forward, at: now) else {
        return Result(status: 0, fields: [:], body: "", reason: nil, sent: [forward.request])
      }
      return result(answer, bodies: bodies, received: [], sent: [forward.request])
    }
    now = now.advanced(by: delay)
    let body = Array(text.utf8)
    let reception = rules.receive(
      response, bodySize: body.count, to: forward, requested: requested, received: now)
    for key in reception.invalidates {
      held = held.filter { $0.key != key.base && !$0.key.hasPrefix(key.variantPrefix) }
    }
    for index in reception.removes { held[keys[index]] = nil }
    let uri = ResponseKey(forward.original)!
    for (stored, content) in reception.stores {
      let bytes =
        switch content {
        case .received: body
        case .stored(let index): bodies[index]
        case .joined(let joined): joined.joined(stored: bodies[joined.stored], received: body)
        }
      held[uri.key(credential: stored.credential, vary: stored.vary)] = (stored, bytes)
    }
    switch reception.outcome {
    case .pass:
      return Result(
        status: response.status.code, fields: response.headerFields, body: text, reason: nil,
        sent: [forward.request])
    case .answer(let answer):
      return result(answer, bodies: bodies, received: body, sent: [forward.request])
    case .again(let next):
      var last = exchange(next, keys, bodies, origin)
      last.sent.insert(forward.request, at: 0)
      return last
    }
  }

  private func result(
    _ answer: CacheAnswer, bodies: [[UInt8]], received: [UInt8], sent: [HTTPRequest]
  ) -> Result {
    let body: [UInt8] =
      switch answer.body {
      case .none: []
      case .stored(let index): bodies[index]
      case .part(let index, let range): Array(bodies[index][range])
      case .joined(let joined): joined.joined(stored: bodies[joined.stored], received: received)
      }
    return Result(
      status: answer.response.status.code, fields: answer.response.headerFields,
      body: String(decoding: body, as: UTF8.self), reason: answer.reason, sent: sent)
  }
}

extension BufferBudget { var reserved: Int { used.withLock { $0 } } }
