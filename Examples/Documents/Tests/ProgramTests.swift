import Foundation
import HTTPTypes
import Larder
import LarderHTTP
import LarderHTTPTesting
import LarderMonitoring
import LarderTesting
import TestSupport
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// The programs of pages and of reference articles are compiled as the pages show them, and run.
@Suite struct ProgramTests {
  private func text(_ value: Any) -> String {
    let mirror = Mirror(reflecting: value)
    if mirror.displayStyle == .optional {
      return mirror.children.first.map { text($0.value) } ?? "nil"
    }
    return (value as? [UInt8]).map { String(decoding: $0, as: UTF8.self) } ?? "\(value)"
  }

  /// Runs each program of a page in a place of its own.
  @Test(arguments: Set(Programs.all.map(\.page)).sorted())
  func `the programs of a page run, and do what the page says`(page: String) async throws {
    var found: Set<String> = []
    try await LocalServer.run { server in
      server.become { _ in .init(200, ["Cache-Control": "max-age=60"], text: "hello") }
      for program in Programs.all where program.page == page {
        let directory = TemporaryDirectory()
        let programs = try Programs(in: directory, server: server)
        let declared = try await program.run(programs)
        found.formUnion(declared.map { "\(page) \($0) = \(text($1))" })
        try check(declared, of: programs, on: page)
        if programs.published > 0 { found.insert("\(page) publishes") }
        for case let monitor as StoreMonitor in declared.values { monitor.stop() }
        for case let store as Store in declared.values where !store.isReadOnly {
          try store.finish()
        }
        try programs.store.finish()
      }
    }
    // The file has the values of constants at the ends of their programs.
    let values = try Repository.text("Examples/Documents/values.txt")
    for line in values.components(separatedBy: "\n") where line.hasPrefix(page + " ") {
      #expect(found.contains(line), "\(found)")
    }
  }

  /// Checks what a page says of the constants of a program, beside their values.
  private func check(_ declared: [String: Any], of programs: Programs, on page: String) throws {
    switch page {
    case "Docs/Learn/Cookbook.md":
      if let isAllowed = declared["isAllowed"] as? (String) throws -> Bool {
        for _ in 0..<100 { #expect(try isAllowed("192.0.2.1")) }
        #expect(try !isAllowed("192.0.2.1"))
        programs.clock.advance(by: .minutes(1))
        #expect(try isAllowed("192.0.2.1"))
      }
      if declared["images"] != nil {
        _ = try programs.store.namespace("images").count()
        let image = try programs.store.namespace("images").entry(for: "https://example.com/a.png")
        #expect(image?.timeToIdle == .days(30))
      }
    case "Docs/Operate/Monitoring.md":
      if let monitor = declared["monitor"] as? StoreMonitor { #expect(monitor.lookOnce()) }
    case "Docs/Use/Codecs.md":
      guard let store = declared["store"] as? Store else { return }
      let text = String(repeating: "a long text ", count: 100)
      let notes = store.cache(TextCodec(), in: "notes", memory: .off)
      try notes.set(text, for: "k")
      #expect(try notes.value(for: "k") == text)
      // The other program encrypts, too.
      let transforms: [TransformID] =
        declared["compression"] == nil ? [.zstd, .aesGCM] : [.zstd]
      #expect(try notes.namespace.entry(for: "k")?.transforms == transforms)
    case "Docs/Use/HTTP.md":
      guard let policy = declared["policy"] as? HTTPCachePolicy else { return }
      func key(_ path: String) -> ResponseKey? {
        ResponseKey(
          HTTPRequest(method: .get, scheme: "http", authority: "api.example.com", path: path),
          policy: policy)
      }
      #expect(key("/a?utm_source=1&b=2&a=1") == key("/a?a=1&b=2"))
      #expect(key("/a?a=1") != key("/a?a=2"))
    default: break
    }
  }

  @Test func `the session of the page is cached`() async throws {
    let configuration = URLSessionConfiguration.default
    configuration.protocolClasses = [WeatherProtocol.self]
    configuration.urlCache = nil
    let session = URLSession(configuration: configuration)
    try await LocalServer.run { server in
      server.become { _ in .init(200, ["Cache-Control": "max-age=60"], text: "hello") }
      let url = try #require(URL(string: server.base + "/boards/1"))
      for _ in 1...2 { #expect(try await session.data(from: url).0 == Data("hello".utf8)) }
      #expect(server.count == 1)
    }
    session.invalidateAndCancel()
  }

  @Test func `the data cache of Nuke`() async throws {
    let images = LarderImages(try Store.temporary())
    for key in ["a", "b"] {
      images.storeData(Data([1, 2]), for: key)
      try await waitUntil { images.containsData(for: key) }
    }
    images.removeData(for: "a")
    #expect(images.cachedData(for: "a") == nil && images.cachedData(for: "b") == Data([1, 2]))
    images.removeAll()
    #expect(!images.containsData(for: "b"))
  }
}
