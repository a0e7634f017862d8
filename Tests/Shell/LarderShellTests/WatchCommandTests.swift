import Larder
import TestSupport
import Testing

@testable import LarderShell
@testable import ShellLanguage

@Suite struct WatchCommandTests {
  /// A shell whose `watch` waits: the first wait runs `events`, and later waits bring no change.
  private func shell(
    _ mode: OutputMode = .table, _ events: @escaping (Shell) throws -> Void
  ) throws -> Shell {
    let shell = try Shell(mode)
    try shell.store.namespace("a").set("one", for: "x")
    var isDone = false
    shell.pauses = 10_000
    shell.meanwhile = { [unowned shell] in
      if !isDone { try events(shell) }
      isDone = true
    }
    return shell
  }

  private func keys(_ rows: String) -> [Substring] {
    rows.split(separator: "\n").map {
      $0.split(separator: "\t", omittingEmptySubsequences: false)[3]
    }
  }

  @Test func `a person sees each change on a line, and how many there were`() throws {
    let shell = try shell { shell in
      let a = shell.store.namespace("a")
      try a.set("three", for: "x", expires: .after(.minutes(15)))
      try a.touch("x", expires: .never)
      try a.set("12", for: "z", expires: .after(.minutes(15)))
      try a.set("12", for: "w")
      try a.remove("w")
      try a.set("gone", for: "y", expires: .after(.zero))
      try shell.store.purge()
      try shell.store.namespace("b").set("1", for: [27])
      try shell.store.namespace("c").set("12", for: "n")
      try shell.store.namespace("c").clear()
      try shell.store.rename("c", to: "d")
    }
    let text = try shell("watch --for 5s")
    #expect(
      text == """
        22:13:00  set      a "x"  5 B (+2)  expires in 15 min
        22:13:00  updated  a "x"  5 B  never expires
        22:13:00  set      a "z"  2 B  expires in 15 min
        22:13:00  set      a "w"  2 B  never expires
        22:13:00  evicted  a "w"  2 B
        22:13:00  set      a "y"  4 B  expires now
        22:13:00  expired  a "y"  4 B
        22:13:00  set      b "\\e"  1 B  never expires
        22:13:00  set      c "n"  2 B  never expires
        22:13:00  cleared  c  2 B  all entries
        22:13:00  renamed  c  to d

        """, "\(text)")
    #expect(shell.notices == ["watching all namespaces; ^C ends", "11 events in 5 s"])
    #expect(shell.outcome == .done)
  }

  @Test(arguments: [("--count 1", 1), ("--for 1s", 1), ("--events evicted --for 1s", 0)])
  func `json is one document of a watch that ends`(options: String, count: Int) throws {
    let shell = try shell(.json) { try $0.store.namespace("a").set("three", for: "x") }
    let text = try shell("watch \(options)")
    #expect(text.hasPrefix("[") && text.hasSuffix("]\n"), "\(text)")
    #expect(text.split(separator: "\"event\"").count == count + 1)
  }

  @Test(arguments: [
    ("@a", "xyz"), ("--events evicted", "y"), ("--events set,evicted @a", "xyz"), ("x", "x"),
    ("x*", "x"), ("@a --match [xy]", "xy"), ("--regex '^.$' @a", "xyz"), ("@b", "x"),
    ("--larger 100B @a", "z"), ("--smaller 100B @a --events set", "x"), ("--count 2", "xy"),
    ("@later", "k"),
  ]) func `changes are chosen in the words of a selection`(words: String, chosen: String) throws {
    let shell = try shell(.plain) { shell in
      let a = shell.store.namespace("a")
      try a.set("xx", for: "x")
      try a.remove("y")
      try a.set(String(repeating: "z", count: 200), for: "z")
      try shell.store.namespace("b").set("b", for: "x")
      try shell.store.namespace("later").set("1", for: "k")
    }
    try shell.store.namespace("a").set("y", for: "y")
    try shell.store.namespace("b").set("b", for: "x")
    let rows = try shell("watch \(words) --for 1s")
    #expect(keys(rows).joined() == (words.hasPrefix("x") ? chosen + chosen : chosen), "\(rows)")
  }

  @Test func `an event carries its own expiry`() throws {
    let shell = try shell(.jsonl) { shell in
      let a = shell.store.namespace("a")
      try a.set("1", for: "k", expires: .after(.minutes(15)))
      try a.set("1", for: "k")
      try a.pin("k")
      try a.remove("k")
    }
    let lines = try shell("watch k --count 4").split(separator: "\n")
    #expect(lines.count == 4)
    #expect(lines[0].contains("\"expires\":\"2026-11-20T21:28:00.005Z\""))
    #expect(lines[1].contains("\"expires\":null"))
    #expect(lines[2].contains("\"event\":\"updated\"") && lines[2].contains("\"expires\":null"))
    #expect(!lines[3].contains("\"expires\""))
  }

  @Test func `a condition is tested on the value that is there`() throws {
    let shell = try shell(.plain) { shell in
      let a = shell.store.namespace("a")
      try a.set("{\"n\":1}", for: "one")
      try a.set("{\"n\":2}", for: "two")
      try a.set("text", for: "text")
      try a.set("{\"n\":3}", for: "gone")
      try a.remove("gone")
    }
    #expect(keys(try shell("watch @a --where '.n > 1' --for 1s")) == ["two"])
  }

  @Test func `it ends by an interruption, with its exit code`() throws {
    let shell = try shell { _ in }
    shell.pauses = 3
    #expect(try shell("watch") == "")
    #expect(shell.outcome == .exitCode(130))
    #expect(shell.notices == ["watching all namespaces; ^C ends", " 0 events in 20 ms"])
  }

  @Test func `three thousand single changes are all shown`() throws {
    let shell = try Shell(.plain)
    let store = shell.store.namespace("a")
    try store.set("v", for: "k")
    shell.pauses = 10_000
    var number = 0
    // Makes 500 changes in each wait, which are more than another process can commit between two reads of the changes.
    shell.meanwhile = {
      for _ in 0..<500 where number < 3000 {
        try store.set("v", for: "\(number)")
        number += 1
      }
    }
    #expect(keys(try shell("watch @a --count 3000")).compactMap { Int($0) } == Array(0..<3000))
  }

  @Test func `large values are shown a few at a time`() throws {
    let shell = try shell(.plain) { shell in
      let value = String(repeating: "x", count: 1_000_000)
      for number in 0..<9 { try shell.store.namespace("a").set(value, for: "\(number)") }
    }
    var checks = 0
    shell.whenLooking = { checks += 1 }
    #expect(keys(try shell("watch @a --values --count 9")).count == 9)
    #expect(checks == 4 && shell.pauses == 10_000 - 1)
  }

  @Test func `it is told what went by unseen`() throws {
    let shell = try shell { shell in
      try shell.store.write { batch in
        for number in 0..<70_000 { try batch.set("v", for: number, in: shell.store.namespace("a")) }
      }
    }
    #expect(try shell("watch @a --count 1") == "          missed   70,000 changes went by unseen\n")
  }

  @Test func `a long key is cut, and still chosen by what it begins with`() throws {
    let shell = try shell(.table) { shell in
      try shell.store.namespace("a").set("v", for: String(repeating: "k", count: 100))
      try shell.store.namespace("a").set("v", for: String(repeating: "l", count: 100))
    }
    shell.window = (columns: 120, rows: 24)
    let key = String(repeating: "k", count: 64)
    let line = try shell("watch @a \(key)* --for 1s")
    #expect(line == "22:13:00  set      \"\(key)\"...  1 B  never expires\n")
  }
}
