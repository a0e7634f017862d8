import Foundation
import Larder
import LarderHTTPTesting
import LarderMonitoring
import LarderTesting
import TestSupport
import Testing

/// The programs of pages and of reference articles are compiled as the pages show them, and run. Tests of the products cover
/// transforms, keys of responses, sessions of `URLSession` and the reports of a monitor.
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
    var (found, hasLimited) = (Set<String>(), false)
    try await LocalServer.run { server in
      server.become { _ in .init(200, ["Cache-Control": "max-age=60"], text: "hello") }
      for program in Programs.all where program.page == page {
        let directory = TemporaryDirectory()
        let programs = try Programs(in: directory, server: server)
        let declared = try await program.run(programs)
        found.formUnion(declared.map { "\(page) \($0) = \(text($1))" })
        if let isAllowed = declared["isAllowed"] as? (String) throws -> Bool {
          hasLimited = true
          for _ in 0..<100 { #expect(try isAllowed("192.0.2.1")) }
          #expect(try !isAllowed("192.0.2.1"))
          programs.clock.advance(by: .minutes(1))
          #expect(try isAllowed("192.0.2.1"))
        }
        for case let monitor as StoreMonitor in declared.values { monitor.stop() }
        for case let store as Store in declared.values where !store.isReadOnly {
          try store.finish()
        }
        try programs.store.finish()
      }
    }
    #expect(hasLimited == (page == "Docs/Learn/Cookbook.md"))
    // The file has the value that each constant has at the end of its program.
    let values = try Repository.text("Examples/Documents/values.txt")
    for line in values.components(separatedBy: "\n") where line.hasPrefix(page + " ") {
      #expect(found.contains(line), "\(found)")
    }
  }

  @Test func `each line of the values names a page with programs`() throws {
    let pages = Set(Programs.all.map(\.page))
    for line in try Repository.text("Examples/Documents/values.txt").split(separator: "\n") {
      #expect(pages.contains(String(line.prefix { $0 != " " })), "\(line)")
    }
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
