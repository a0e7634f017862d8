import Crypto
import Foundation
import HTTPTypes
import Larder
import LarderCodecs
import LarderCompression
import LarderEncryption
import LarderHTTP
import LarderHTTPTesting
import LarderMonitoring
import LarderShared
import LarderSharedTesting
import LarderTesting
import LarderTracing
import LarderURLSession
import Logging
import Synchronization
import TestSupport
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// The names that the programs of pages use without a declaration. Each program has a store of its own.
struct Programs: Sendable {
  typealias Board = String
  struct Color: Codable, Equatable { var name: String }
  struct Session: Codable, Equatable { var user: Int }
  struct User: Codable, Equatable { var name: String }
  struct Point: Equatable { var x, y: UInt8 }
  struct InvalidCursor: Error {}
  struct Users: Sendable { func user(_ cookie: String) -> String? { cookie } }
  struct Keychain: Sendable {
    private let keys = ["2026-11": SymmetricKey(size: .bits256)]
    func key(named name: String) throws -> SymmetricKey? { keys[name] }
  }

  let clock = ManualClock()
  let service = Origin()
  let keychain = Keychain()
  let tier = MemoryTier()
  let store: Store
  let directory: String
  /// The host of a server that answers `hello`.
  let host: String

  init(in directory: TemporaryDirectory, server: LocalServer) throws {
    self.directory = directory.path
    host = String(server.base.dropFirst("http://".count))
    store = try Store.temporary(options: Store.Options(clock: clock))
  }

  var path: String { directory + "/store" }
  var api: Origin { service }
  var model: Origin { service }
  var transport: Origin { service }
  var sessions: Users { Users() }

  var boards: Cache<Board> { store.cache(of: Board.self, in: "boards") }
  var colors: Cache<Color> { store.cache(of: Color.self, in: "colors") }
  var forecasts: Cache<String> { store.cache(TextCodec(), in: "forecasts") }
  var pages: Cache<String> { store.cache(TextCodec(), in: "pages") }
  var ships: Cache<String> { store.cache(TextCodec(), in: "ships") }

  let station = "Thun"
  let stations = ["Thun", "Biel"]
  let favourites = ["Thun"]
  let board = "6 boats"
  let url = "https://example.org/1"
  let digest = "9f86d081"
  let token = "1234"
  let prompt = "Why is bread brown?"
  let user = User(name: "Anna")

  var request: HTTPRequest {
    HTTPRequest(method: .get, scheme: "http", authority: host, path: "/boards/1")
  }
  var cache: HTTPCache { HTTPCache(in: store.namespace("http"), over: URLSessionTransport()) }
  var policy: HTTPCachePolicy {
    get { HTTPCachePolicy() }
    nonmutating set {}
  }

  func publish(_ metrics: [Metric]) {}
  func log(_ level: MonitoringEvent.Level, _ message: String) {}
  func compile() -> [UInt8] { [1, 2, 3] }
  func runImport() throws {}
}

let weatherCache: HTTPCache? = nil

/// The protocol `DataCaching` as Nuke declares it.
protocol DataCaching: Sendable {
  func cachedData(for key: String) -> Data?
  func containsData(for key: String) -> Bool
  func storeData(_ data: Data, for key: String)
  func removeData(for key: String)
  func removeAll()
}

struct Origin: HTTPTransport {
  struct Response: Sendable {
    var body: String? = "page"
    var lifetime = Duration.minutes(5)
    var entityTag = Array("\"v1\"".utf8)
  }
  struct Page: Sendable {
    var items: [String]
    var version: String?
    var next: Int?
  }

  func board(_ place: String) async throws -> String { "board of \(place)" }
  func boards(_ places: [String]) async throws -> [(station: String, board: String)] {
    places.reversed().map { ($0, "board of \($0)") }
  }
  func forecast(_ place: String) async throws -> String { "sunny in \(place)" }
  func ship(_ name: String) async throws -> String? { nil }
  func page(_ url: String, unlessMatching tag: [UInt8]?) async throws -> Response { Response() }
  func color(_ key: String) async throws -> Programs.Color { .init(name: "Color " + key) }
  func price(_ name: String) async throws -> Int { 200 }
  func download(_ url: String) async throws -> [UInt8] { Array(url.utf8) }
  func complete(_ prompt: String) async throws -> String { "An answer to: " + prompt }
  func catalog(after cursor: Int?) async throws -> Page {
    Page(items: ["item \(cursor ?? 0)"], version: "1", next: cursor == nil ? 1 : nil)
  }

  func send(
    _ request: HTTPRequest, body: HTTPBody,
    interim: @escaping @Sendable (HTTPResponse) async -> Void
  ) async throws -> (HTTPResponse, HTTPBody) {
    let pieces = Mutex(["ge", "pa"])
    let body = HTTPBody { pieces.withLock { $0.popLast() }.map { Array($0.utf8) } }
    return (HTTPResponse(status: .ok, headerFields: [.cacheControl: "max-age=100"]), body)
  }
}
