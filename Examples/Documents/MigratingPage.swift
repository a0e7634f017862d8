import Foundation
import HTTPTypes
import Larder
import LarderHTTP
import TestSupport
import Testing

/// The programs of `Docs/Learn/Migrating.md`.
@Suite struct MigratingPage {
  private typealias Board = Origin.Board
  private struct User: Codable, Equatable { var name: String }

  private let store: Store

  init() throws { store = try Store.temporary(options: Store.Options(clock: ManualClock())) }

  @Test func `from URLCache`() async throws {
    let transport = Origin()
    try store.declare(StoreLimits(disk: .megabytes(200)))
    let cache = HTTPCache(in: store.namespace("http"), over: transport)
    let request = HTTPRequest(method: .get, scheme: "https", authority: "example.com", path: "/a")
    let answer = try await cache.send(request)
    let body = try await answer.body.bytes()
    #expect(body == Array("page".utf8))
  }

  @Test func `from NSCache`() throws {
    let board = Board(boats: 3)
    let boards = store.cache(of: Board.self, in: "boards", memory: MemoryLimits(entries: 100))
    try boards.set(board, for: "zurich")
    let found = try boards.value(for: "zurich")
    #expect(found == board)
  }

  @Test func `from the package Cache`() throws {
    let user = User(name: "Anna")
    let users = store.cache(
      of: User.self, in: "users",
      rules: Rules(expires: .after(.hours(1)), limits: Limits(bytes: .megabytes(10))),
      memory: MemoryLimits(entries: 50))
    try users.set(user, for: "7")
    let found = try users.value(for: "7")
    try users.namespace.purge()
    #expect(found == user)
  }

  @Test func `from the data cache of Nuke`() async throws {
    let images = LarderImages(store)
    images.storeData(Data([1, 2]), for: "a")
    try await waitUntil { images.containsData(for: "a") }
    #expect(images.cachedData(for: "a") == Data([1, 2]) && images.containsData(for: "a"))
    images.removeData(for: "a")
    #expect(images.cachedData(for: "a") == nil)
    images.storeData(Data([1]), for: "b")
    try await waitUntil { images.containsData(for: "b") }
    images.removeAll()
    #expect(!images.containsData(for: "b"))
  }

  @Test func `from a table of SQLite`() throws {
    let notes = store.cache(TextCodec(), in: "notes")
    try notes.set("sunny", for: "zurich", expires: .after(.minutes(15)))
    let note = try notes.value(for: "zurich")
    try store.purge()
    #expect(note == "sunny")
  }

  @Test func `from diskcache`() throws {
    try store.declare(StoreLimits(disk: .megabytes(200)))
    let notes = store.cache(TextCodec(), in: "notes")
    var attributes = EntryAttributes(expires: .after(.minutes(15)))
    attributes.tags = ["weather"]
    try notes.set("sunny", for: "zurich", attributes)
    let note = try notes.value(for: "zurich")
    try store.namespace("counters").increment("hits")
    try store.invalidate(tag: "weather")
    #expect(note == "sunny")
    #expect(try notes.value(for: "zurich") == nil)
  }

  @Test func `from Redis`() throws {
    let calls = store.namespace("calls")
    let count = try calls.increment("192.0.2.1", expires: .after(.minutes(1)))
    let worker = Array("worker-1".utf8)
    let isFirst = try calls.setIfAbsent(worker, for: "job", expires: .after(.minutes(10)))
    let owner = try calls.pop("job")
    #expect(count == 1 && isFirst && owner == worker)
  }
}

/// As Nuke declares it.
protocol DataCaching: Sendable {
  func cachedData(for key: String) -> Data?
  func containsData(for key: String) -> Bool
  func storeData(_ data: Data, for key: String)
  func removeData(for key: String)
  func removeAll()
}

struct LarderImages: DataCaching {
  let images: Cache<[UInt8]>

  init(_ store: Store) {
    images = store.cache(
      of: [UInt8].self, in: "images",
      rules: Rules(expires: .afterAccess(.days(30)), limits: Limits(bytes: .megabytes(200))),
      memory: .off)
  }
  func cachedData(for key: String) -> Data? { (try? images.value(for: key)).map { Data($0) } }
  func containsData(for key: String) -> Bool { (try? images.contains(key)) ?? false }
  func storeData(_ data: Data, for key: String) {
    Task { try? await images.set(Array(data), for: key) }
  }
  func removeData(for key: String) { _ = try? images.remove(key) }
  func removeAll() { _ = try? images.clear() }
}
