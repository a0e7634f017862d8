import Foundation
import Larder
import TestSupport
import Testing

@testable import LarderShell
@testable import ShellLanguage

@Suite struct RemovalCommandTests {
  @Test func `purge explains that a clock which jumped removes nothing`() throws {
    let shell = try Shell.filled(.plain)
    shell.clock.set(to: Timestamp(milliseconds: shell.clock.now.milliseconds + 3 * 86_400_000))
    #expect(try shell("purge") == "purge\t@*\t0\t0\n")
    #expect(shell.notices.count == 1)
    #expect(shell.notices.first?.contains("the clock jumped") == true)
    shell.clock.advance(by: .minutes(2))
    #expect(try shell("purge") == "purge\t@*\t5\t55\n")
    #expect(shell.notices.count == 1)
  }

  @Test func `what is written after the question of clear stays`() throws {
    let shell = try Shell.filled(hasPerson: true)
    shell.whileAsked = { [unowned shell] in
      try shell.store.namespace("departures").set("new", for: "Malm\u{F6} C:02")
      try shell.store.namespace("later").set("new", for: "k")
    }
    #expect(try shell("clear @departures") == "cleared departures: 4 entries, 44 B\n")
    #expect(try shell.store.namespace("departures").keys() == [Key("Malm\u{F6} C:02")])
    #expect(try shell("count @departures") == "1 entry, 3 B\n")
    shell.whileAsked = { [unowned shell] in
      try shell.store.namespace("departures").clear()
      try shell.store.namespace("departures").set("newer", for: "k")
    }
    #expect(try shell("clear @*").hasPrefix("cleared every namespace: "))
    #expect(try shell.store.namespace("departures").keys() == [Key("k")])
    #expect(try shell("count @*") == "1 entry, 5 B\n")
  }

  @Test(arguments: ["clear @* --yes", "clear @articles --yes", "evict @articles --yes"])
  func `a load that began before a removal stores nothing`(line: String) async throws {
    let shell = try Shell.filled(.plain)
    let name = line.contains("@*") ? "later" : "articles"
    let cache = shell.store.cache(of: String.self, in: name)
    let (begun, begin) = AsyncStream.makeStream(of: Void.self)
    let (opened, open) = AsyncStream.makeStream(of: Void.self)
    async let loaded = cache.value(for: "new") {
      begin.yield()
      for await _ in opened { break }
      return "old"
    }
    for await _ in begun { break }
    _ = try shell(line)
    open.yield()
    #expect(try await loaded == "old")
    // The call of `statistics` waits for the commits of loaded values.
    _ = try shell.store.statistics()
    #expect(try cache.value(for: "new") == nil)
  }
}

@Suite struct InvalidateCommandTests {
  @Test func `what is written after the question stays`() throws {
    let shell = try Shell(hasPerson: true)
    var attributes = EntryAttributes()
    attributes.tags = ["x"]
    for key in ["1", "2"] {
      try shell.store.namespace("a").set(Array("old".utf8), for: key, attributes)
    }
    shell.whileAsked = { [unowned shell] in
      try shell.store.namespace("a").set(Array("new".utf8), for: "2", attributes)
      try shell.store.namespace("b").set(Array("new".utf8), for: "3", attributes)
    }
    try shell("invalidate x")
    #expect(try shell("keys @*", "get @a 2").contains("new"))
    #expect(try shell.store.namespace("a").keys() == [Key("2")])
    #expect(try shell.store.namespace("b").keys() == [Key("3")])
  }
}
