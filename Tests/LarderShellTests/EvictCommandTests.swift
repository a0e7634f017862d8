import Foundation
import Larder
import Testing

@testable import LarderShell
@testable import ShellLanguage

@Suite struct EvictCommandTests {
  @Test func `what keys lists, evict removes`() throws {
    for words in [
      "@departures 'Malm\u{F6} C:'*", "@* --larger 1kB", "@departures --expiring 1h",
      "@* --permanent", "@articles 000011 00001[23]", "@* --contains '\"train\":1'",
      "@departures --sort expiry --reverse --limit 2", "@departures --after Kiruna:05",
    ] {
      let shell = try Shell(.plain)
      try shell.fill()
      let all = Set(try shell("keys @*").split(separator: "\n"))
      let listed = Set(try shell("keys \(words)").split(separator: "\n"))
      #expect(!listed.isEmpty, "\(words)")
      try shell("evict \(words)")
      #expect(
        Set(try shell("keys @*").split(separator: "\n")) == all.subtracting(listed), "\(words)")
    }
  }

  @Test func `evict says what went and what is left`() throws {
    let shell = try Shell()
    try shell.fill()
    #expect(
      try shell("evict @departures M* --dry-run") == "would evict 4 entries (44 B)\n")
    #expect(try shell("evict @departures M*") == "evicted 4 entries, 44 B, 1 left\n")
    #expect(try shell("evict @departures M*") == "evicted 0 entries, 0 B, 1 left\n")
    #expect(
      try shell("output plain", "evict @* *01* K*")
        == "evict\tarticles\t3\t3000\nevict\tdepartures\t1\t11\nevict\tthumbs\t0\t0\n")
    try shell.fill()
    #expect(
      try shell("output json", "evict @articles 000011 --verbose")
        == "{\"count\":1,\"bytes\":500,\"keys\":[{\"key\":\"000011\"}]}\n")
    #expect(try shell("evict @articles 000012 --dry-run") == "{\"count\":1,\"bytes\":1000}\n")
    #expect(try shell("evict @articles nope") == "{\"count\":0,\"bytes\":0}\n")
  }

  @Test func `a person is asked about what was found, not about what was named`() throws {
    let shell = try Shell(hasPerson: true)
    try shell.fill()
    shell.answer = false
    #expect(try shell("evict @departures M*") == "")
    #expect(
      shell.questions == [
        "Evict 4 entries (44 B), such as \"Malm\u{F6} C:01\", \"Malm\u{F6} C:02\", "
          + "\"Malm\u{F6} C:03\"?"
      ])
    try shell("evict @departures Kiruna:05", "evict @departures X*", "evict @articles * --yes")
    #expect(shell.questions.count == 1)
    #expect(try shell("count @*") == "5 entries, 56 B\n")
  }

  @Test func `keys come from standard input, a line or a NUL each`() throws {
    let shell = try Shell(.plain)
    try shell.fill()
    shell.input = bytes("000011\r\n\n000012\nnope")
    #expect(try shell("evict @articles --stdin") == "evict\tarticles\t2\t1500\n")
    try shell("set @articles \"a\\nb\" x")
    shell.input = bytes("a\nb\0Kiruna:05")
    #expect(try shell("keys @* --stdin -0") == "a\\nb\nKiruna:05\n")
    #expect(shell.input.isEmpty)
    shell.input = bytes("Kiruna:05\n000013\n000013\n")
    #expect(try shell("keys @* --stdin --larger 1kB") == "000013\n000013\n")
    #expect(try Shell(hasInput: false).error("evict --stdin").code != .interrupted)
  }

  @Test func `an entry written again since it was chosen by a filter stays`() throws {
    let shell = try Shell(.plain)
    try shell.fill()
    let articles = shell.store.namespace("articles")
    var isFirst = true
    _ = try shell.session.change(
      try #require(try invocation("evict @articles --larger 1").selection), in: [articles],
      verb: "evict", done: "evicted"
    ) { batch, namespace, entry in
      // The second one is written anew while the first is being removed.
      if isFirst { try batch.set("new", for: "000012", in: namespace) }
      isFirst = false
      try batch.remove(entry.key, from: namespace)
      return true
    }
    #expect(try shell("keys @articles") == "000012\n")
  }

  @Test func `interrupted, a change stops between batches and says what was done`() throws {
    let shell = try Shell(.plain)
    let box = shell.store.namespace("box")
    try shell.store.write { batch in
      for number in 0..<2000 { try batch.set("x", for: number, in: box) }
    }
    shell.lockTimeout = 1200
    let error = try shell.error("evict @box *")
    #expect(error.code == .interrupted && error.code.exitCode == 130)
    let left = try box.count()
    #expect(left > 0 && left < 2000 && left.isMultiple(of: 500))
    let evicted = Wording.count(2000 - left)
    #expect(
      error.message.description.hasPrefix("interrupted: \(evicted) entries, "), "\(error.message)")
    shell.lockTimeout = 100
    #expect(try shell.error("keys @box").code == .interrupted)
  }

  @Test func `a change of large values is cut into batches that a store takes`() throws {
    let shell = try Shell(.plain)
    let box = shell.store.namespace("box")
    for number in 0..<5 {
      try box.set([UInt8](repeating: UInt8(number), count: 30_000_000), for: number)
    }
    #expect(try shell("touch @box --ttl 1h") == "touch\tbox\t5\t150000000\n")
  }
}

@Suite struct OrderedChangeTests {
  @Test func `a change takes its entries in any order, limited or not`() throws {
    let shell = try Shell(.plain)
    try shell.fill()
    #expect(try shell("touch @articles --sort size") == "touch\tarticles\t3\t3000\n")
    #expect(
      try shell("evict @articles --reverse --limit 9223372036854775807 --dry-run")
        == "would evict\tarticles\t3\t3000\n")
    #expect(
      try shell("evict @articles --sort size --reverse --limit 1") == "evict\tarticles\t1\t1500\n")
  }
}
