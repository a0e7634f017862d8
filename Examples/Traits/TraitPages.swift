import Crypto
import HTTPTypes
import Larder
import LarderCompression
import LarderEncryption
import LarderHTTP
import LarderMonitoring
import LarderTesting
import LarderTracing
import Logging
import TestSupport
import Testing

/// The programs of `Docs/Use/Codecs.md`, `Docs/Operate/Monitoring.md` and the articles of the libraries that need packages of others.
@Suite struct TraitPages {
  private struct Keychain {
    private let keys = ["2026-11": SymmetricKey(size: .bits256)]
    func key(named name: String) throws -> SymmetricKey? { keys[name] }
  }

  private let keychain = Keychain()
  private let text = String(repeating: "a long text ", count: 100)

  /// Writes and reads a value in the store that `open` opens at a new path.
  private func check(_ expected: [TransformID], _ open: (String) throws -> Store) throws {
    let directory = try TemporaryDirectory()
    let store = try open(directory.path + "/store")
    let notes = store.namespace("notes")
    try notes.set(text, for: "k")
    let found: String? = try notes.value(for: "k")
    #expect(found == text)
    #expect(try notes.entry(for: "k")?.transforms == expected)
    try store.finish()
  }

  @Test func `a compressed store`() throws {
    try check([.zstd]) { path in
      var options = Store.Options()
      options.transforms = [ZstdCompression()]
      let store = try Store(at: path, options: options)
      return store
    }
    try check([.zstd]) { path in
      var options = Store.Options()
      let compression = ZstdCompression()
      options.transforms = [compression]
      let store = try Store(at: path, options: options)
      return store
    }
  }

  @Test func `an encrypted store`() throws {
    try check([.aesGCM]) { path in
      var options = Store.Options()
      options.transforms = [
        try AESEncryption(currentKey: "2026-11") { name in try keychain.key(named: name) }
      ]
      let store = try Store(at: path, options: options)
      return store
    }
    try check([.zstd, .aesGCM]) { path in
      var options = Store.Options()
      options.transforms = [
        ZstdCompression(),
        try AESEncryption(currentKey: "2026-11") { id in try keychain.key(named: id) },
      ]
      let store = try Store(at: path, options: options)
      return store
    }
  }

  @Test func `a monitor that reports to both`() throws {
    try withTemporaryStore { store, _ in
      let monitor = StoreMonitor(
        of: store, report: .metrics().and(.logging(to: Logger(label: "cache"))))
      monitor.start()
      #expect(monitor.lookOnce())
      monitor.stop()
    }
  }

  @Test func `spans of loads and of requests`() async throws {
    try await withTemporaryStore { store, _ in
      let transport = TracingTraitTests.Service()
      store.traceLoads()
      let cache = HTTPCache(in: store.namespace("http"), over: TracedTransport(transport))
      let request = HTTPRequest(method: .get, scheme: "https", authority: "a", path: "/")
      let body = try await cache.send(request).body.bytes()
      #expect(body == Array("piecepiece".utf8))
      let number = try await store.cache(of: Int.self, in: "numbers").value(for: "n") { 1 }
      #expect(number == 1)
    }
  }
}
