import AsyncHTTPClient
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Larder
import LarderHTTP
import LarderHummingbird
import LarderTesting
import NIOCore
import NIOHTTP1
import Synchronization
import Testing

/// The calls of an application under test, and the errors that its cache has reported.
final class Calls: Sendable {
  private let number = Atomic(0)
  private let errors = Mutex<[String]>([])

  func note() { number.add(1, ordering: .relaxed) }
  func report(_ error: any Error) { errors.withLock { $0.append("\(error)") } }
  var count: Int { number.load(ordering: .relaxed) }
  var reports: [String] { errors.withLock { $0 } }
}

typealias Answer = (status: Int, fields: [String: String], text: String)

struct Client: Sendable {
  /// The HTTP client, which lives as long as the process and has a connection for each request of a test.
  private static let http = {
    var configuration = HTTPClient.Configuration()
    configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 256
    return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
  }()

  let port: Int

  func begin(
    _ path: String, _ method: String = "GET", _ fields: [String: String] = [:], body: String? = nil
  ) async throws -> HTTPClientResponse {
    var request = HTTPClientRequest(url: "http://127.0.0.1:\(port)\(path)")
    request.method = .init(rawValue: method)
    for (name, value) in fields { request.headers.add(name: name, value: value) }
    if let body { request.body = .bytes(ByteBuffer(string: body)) }
    return try await Self.http.execute(request, deadline: .distantFuture)
  }

  func send(
    _ path: String, _ method: String = "GET", _ fields: [String: String] = [:], body: String? = nil
  ) async throws -> Answer {
    let response = try await begin(path, method, fields, body: body)
    let text = String(buffer: try await response.body.collect(upTo: 1 << 26))
    let received = Dictionary(
      response.headers.map { ($0.name.lowercased(), $0.value) },
      uniquingKeysWith: { $0 + ", " + $1 })
    return (Int(response.status.code), received, text)
  }
}

/// Runs a server whose application is `respond`, with a response cache in a temporary store, which `test` may close.
func withServer(
  _ calls: Calls, policy: HTTPCachePolicy = .application,
  _ respond: @escaping @Sendable (Request, BasicRequestContext) async throws -> Response,
  test: @Sendable (Client, Store, ManualClock) async throws -> Void
) async throws {
  let clock = ManualClock()
  let store = try Store.temporary(options: Store.Options(clock: clock))
  let application = CallbackResponder<BasicRequestContext> { request, context in
    calls.note()
    return try await respond(request, context)
  }
  let responder = CachedResponder(
    application, in: store.namespace("responses"), policy: policy, report: { calls.report($0) })
  let server = Application(
    responder: responder, configuration: .init(address: .hostname("127.0.0.1", port: 0)))
  try await server.test(.ahc()) { client in
    try await test(Client(port: try #require(client.port)), store, clock)
  }
  do { try store.finish() } catch let error as LarderError where error.code == .closed {}
}

func waitUntil(_ condition: () throws -> Bool) async throws {
  while try !condition() { try await Task.sleep(for: .milliseconds(5)) }
}

func text(_ text: String, _ cacheControl: String? = nil, _ fields: HTTPFields = [:]) -> Response {
  var fields = fields
  fields[.cacheControl] = cacheControl
  return Response(
    status: .ok, headers: fields, body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
}

/// A response whose body is written piece by piece. By default the response is fresh for a minute.
func written(
  _ fields: HTTPFields = [.cacheControl: "max-age=60"], length: Int? = nil,
  _ write: @escaping @Sendable (inout any ResponseBodyWriter) async throws -> Void
) -> Response {
  Response(status: .ok, headers: fields, body: ResponseBody(contentLength: length, write))
}
