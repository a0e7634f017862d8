import Foundation
import Larder
import TestSupport
import Testing

@testable import LarderShell
@testable import ShellLanguage

@Suite struct DemoStoreTests {
  @Test func `the demo has entries of every kind and its commands find some`() throws {
    let path = TemporaryDirectory.unusedPath
    defer { try? FileManager.default.removeItem(atPath: path) }
    try DemoStore.create(at: path)
    let store = try Store(at: path)
    let namespaces = try store.namespaces()
    #expect(namespaces.map(\.name) == ["images", "sets", "web"])
    #expect(namespaces.map(\.entries).reduce(0, +) == 400)
    #expect(namespaces.map(\.bytes).reduce(0, +) < 500_000)
    #expect(try store.verify().faults.isEmpty)
    try store.close()

    let shell = try Shell(.plain, at: path)
    for line in DemoStore.suggestions { #expect(try !shell(line).isEmpty, "\(line)") }
    #expect(try shell("count @sets --expired").hasPrefix("20\t"))
    #expect(try shell("count @web --where 'status = 404'").hasPrefix("8\t"))
    #expect(try shell("count @* --permanent") != "0\t0\t0\n")
    #expect(try shell("count @* --expiring 20m") != "0\t0\t0\n")
    let again = try #require(throws: LarderError.self) { try DemoStore.create(at: path) }
    #expect(again.code == .exists)
  }
}
