import Foundation
import Larder
import TestSupport
import Testing

@testable import LarderShell
@testable import ShellLanguage

@Suite struct SetCommandTests {
  @Test func `set says what it stored and until when`() throws {
    let shell = try Shell()
    #expect(
      try shell("set @notes \"a b\" sunny --ttl 15m")
        == "set notes \"a b\" (5 B), expires in 15 min (22:28)\n")
    #expect(try shell("set @notes c rain") == "set notes \"c\" (4 B), never expires\n")
    #expect(
      try shell("set @notes d snow --until midnight")
        == "set notes \"d\" (4 B), expires in 1 h 47 min (tomorrow 00:00)\n")
    #expect(try shell("output plain", "set hex:00ff hex:ff") == "set\tnotes\t\\0\\xff\n")
    #expect(
      try shell("output json", "set e x").hasPrefix(
        "{\"namespace\":\"notes\",\"key\":\"e\",\"size\":1,"))
    #expect(
      try shell.store.namespace("notes").value(for: [0, 0xFF] as [UInt8]) == [0xFF] as [UInt8]?)
    #expect(try shell.store.namespace("notes").entry(for: "c")?.codec == .text)
    #expect(try shell.store.namespace("notes").entry(for: [0, 0xFF] as [UInt8])?.codec == .bytes)
  }

  @Test func `a condition decides whether it is stored`() throws {
    let shell = try Shell(.plain)
    let missing = try shell.error("set @a k v --if-present")
    #expect(missing.code == .noSuchKey)
    #expect(try shell.store.namespaces().isEmpty)
    try shell("set @a k v --if-absent", "set k w --if-present")
    #expect(try shell("set k x --if-absent") == "")
    #expect(shell.outcome == .exitCode(6))
    #expect(try shell("get k") == "w\n")
    try shell("expire k 1m")
    shell.clock.advance(by: .minutes(2))
    #expect(try shell.error("set k x --if-present").code == .noSuchKey)
    try shell("set k x --if-absent")
  }

  @Test func `a value comes from a file or standard input byte for byte`() throws {
    let shell = try Shell(.plain)
    let value = (0...255).map { UInt8($0) } + [0, 10, 13]
    let path = TemporaryDirectory.unusedPath
    try Data(value).write(to: URL(fileURLWithPath: path))
    defer { try? FileManager.default.removeItem(atPath: path) }
    try shell("set @a f --from \(path)")
    try shell("output raw")
    #expect(try shell.bytes("get f") == value)
    shell.input = value
    try shell("set i --from -")
    #expect(try shell.session.store.namespace("a").value(for: "i") == value)
    let absent = try shell.error("set x --from \(path)-no")
    #expect(absent.code == .io && absent.message.description.hasSuffix("no such file"))
    #expect(try Shell(hasInput: false).error("set @a x --from -").code == .usage)
  }

  @Test func `a value over the limit is refused with both sizes`() throws {
    let shell = try Shell(.plain)
    try shell.store.declare(Rules(largestValue: 1000), for: "small")
    shell.input = [UInt8](repeating: 65, count: 1001)
    let error = try shell.error("set @small k --from -")
    #expect(error.code == .overLimit && error.code.exitCode == 5)
    #expect(
      error.message.description == "the value has more than 1,000 bytes; small takes at most 1,000")
    #expect(try shell("count") == "0\t0\t0\n")
    let typed = try shell.error("set @small k \(String(repeating: "v", count: 1001))")
    #expect(
      typed.message.description == "the value has 1,001 bytes; small takes at most 1,000")
  }

  @Test func `a source without an end is read no further than the limit`() throws {
    var reads = 0
    let host = LarderShell.Host(
      write: { _ in },
      read: { _ in
        LarderShell.Host.Reader {
          reads += 1
          if reads > 50 { throw FileProblem.failed("it was read too far") }
          return [UInt8](repeating: 0, count: 100)
        }
      }, make: { _, _ in throw FileProblem.notPermitted })
    let shell = try Shell(.plain)
    try shell.store.declare(Rules(largestValue: 1000), for: "small")
    let session = Session(store: shell.store, settings: Settings(), host: host)
    let error = try error { _ = try session.run(command("set @small k --from endless")) }
    #expect(error.code == .overLimit && reads == 11)
  }
}

@Suite struct LifetimeCommandTests {
  @Test func `expire answers what was and what is now`() throws {
    let shell = try Shell()
    try shell.fill()
    #expect(
      try shell("expire @departures 'Malm\u{F6} C:'* midnight --yes")
        == "4 entries: were 22:28 (in 15 min), now tomorrow 00:00 (in 1 h 47 min)\n")
    #expect(
      try shell("expire @departures Kiruna:05 1h30m")
        == "was in 2 h (tomorrow 00:13), now in 1 h 30 min (today 23:43)\n")
    #expect(
      try shell("expire @departures Kiruna:05 never")
        == "was in 1 h 30 min (today 23:43), now never\n")
    #expect(
      try shell("expire @departures * 10m --yes")
        == "5 entries: were tomorrow 00:00 to never, now 22:23 (in 10 min)\n")
    #expect(
      try shell("output plain", "expire @articles * 1h -y") == "expire\tarticles\t3\t3000\n")
    #expect(
      try shell("output json", "expire @articles 000011 2h") == """
        {"count":1,"bytes":500,"unchanged":0,"permanent":0,"expires":"2026-11-20T23:13:00.000Z",\
        "was":{"earliest":"2026-11-20T22:13:00.000Z","latest":"2026-11-20T22:13:00.000Z"},\
        "now":{"earliest":"2026-11-20T23:13:00.000Z","latest":"2026-11-20T23:13:00.000Z"}}

        """)
    #expect(try shell.error("expire @articles nope 1h").code == .noSuchKey)
  }

  @Test func `expire can be relative, and never shorten or extend`() throws {
    let shell = try Shell()
    try shell.fill()
    #expect(
      try shell("expire @departures Kiruna:05 +2h")
        == "was in 2 h (tomorrow 00:13), now in 4 h (tomorrow 02:13)\n")
    #expect(try shell("expire @articles 000011 +2h") == "1 never expires\n")
    #expect(
      try shell("expire @* 000011 Kiruna:05 +1m")
        == "was in 4 h (tomorrow 02:13), now in 4 h 1 min (tomorrow 02:14); 1 never expires\n")
    #expect(try shell("expire @departures Kiruna:05 1h --at-least") == "1 unchanged\n")
    #expect(try shell("expire @departures Kiruna:05 never --at-most") == "1 unchanged\n")
    #expect(
      try shell("expire @departures Kiruna:05 1h --at-most")
        == "was in 4 h 1 min (tomorrow 02:14), now in 1 h (today 23:13)\n")
    #expect(
      try shell("expire @departures Kiruna:05 never --at-least")
        == "was in 1 h (today 23:13), now never\n")
    let negative = try shell.error("expire @departures Kiruna:05 -2h")
    #expect(negative.code == .badTime && negative.hint?.description.contains("--at-most") == true)
    let misplaced = try shell.error("expire 2h @departures Kiruna:05")
    #expect(misplaced.message.description == "the time goes last")
    #expect(misplaced.hint?.description == "`expire @departures Kiruna:05 2h`")
    let touched = try shell.error("touch @departures Kiruna:05 2h")
    #expect(touched.message.description == "unexpected time \"2h\"")
    #expect(touched.hint?.description == "`touch @departures Kiruna:05 --ttl 2h`")
  }

  @Test func `a time in the past is a bulk change, also of listed keys`() throws {
    let shell = try Shell(hasPerson: true)
    try shell.fill()
    shell.answer = false
    #expect(try shell.error("expire @articles 000011 2026-11-20").code == .declined)
    #expect(
      shell.questions == [
        "The time is 22 h 13 min ago. Expire 1 entry (500 B) in articles, such as \"000011\"?"
      ])
    #expect(try shell("count @articles") == "3 entries, 3 kB\n")
    shell.answer = true
    try shell("expire @articles * 2026-11-20")
    #expect(try shell("count @articles") == "0 entries, 0 B, 3 expired\n")
    let script = try Shell(.plain)
    try script.fill()
    #expect(try script.error("expire @articles 000011 2026-11-20").code == .needsYes)
    #expect(
      try script("expire @articles 000011 2026-11-20 --yes") == "expire\tarticles\t1\t500\n")
  }

  @Test(arguments: [
    "expire @articles 000011 now", "expire @articles 000011 000012 0s", "expire @articles * now",
    "touch @articles 000011 --ttl 0s",
  ])
  func `what ends entries at once needs confirmation, also of listed keys`(line: String) throws {
    let script = try Shell(.plain)
    try script.fill()
    #expect(try script.error(line).code == .needsYes)
    #expect(try script("count @articles").hasPrefix("3\t"))
    #expect(try script(line + " --dry-run").hasPrefix("would "))
    try script(line + " --yes")
    #expect(try !script("count @articles").hasPrefix("3\t"))
    let shell = try Shell(hasPerson: true)
    try shell.fill()
    shell.answer = false
    #expect(try shell.error(line).code == .declined)
    #expect(shell.questions.first?.contains(" now. ") == true || line.hasPrefix("touch"))
    #expect(try shell("expire @articles 000011 1m").hasPrefix("was never, now in 1 min"))
  }

  @Test func `touch without a rule and a lifetime makes nothing immortal`() throws {
    let shell = try Shell()
    try shell.fill()
    for line in ["touch @departures Kiruna:05", "touch @* --yes", "touch @departures K* --dry-run"]
    {
      let error = try shell.error(line)
      #expect(error.code == .usage, "\(line)")
      #expect(error.message.description.hasPrefix("touch requires a lifetime: namespace "))
      #expect(error.hint?.description.contains("`persist`") == true)
    }
    #expect(try shell("ttl @departures K*") == "\"Kiruna:05\"  in 2 h (tomorrow 00:13)\n")
  }

  @Test func `persist and touch do as they say`() throws {
    let shell = try Shell()
    try shell.fill()
    #expect(
      try shell("persist @departures K* --yes") == "was in 2 h (tomorrow 00:13), now never\n")
    #expect(try shell("ttl @departures K*") == "\"Kiruna:05\"  never\n")
    #expect(
      try shell("touch @departures K* --ttl 2h --yes")
        == "was never, now in 2 h (tomorrow 00:13)\n")
    try shell.store.declare(Rules(expires: .after(.minutes(5))), for: "departures")
    #expect(
      try shell("touch @departures --yes")
        == "5 entries: were 22:28 to tomorrow 00:13, now 22:18 (in 5 min)\n")
    #expect(try shell("ttl @departures K*") == "\"Kiruna:05\"  in 5 min (22:18)\n")
    #expect(
      try shell("output plain", "touch @departures K* --yes") == "touch\tdepartures\t1\t11\n")
    #expect(try shell("output json", "touch @departures K* --yes").hasPrefix("{\"count\":1,"))
    #expect(try shell("persist @departures K* -y").hasPrefix("{\"count\":1,"))
    #expect(try shell.error("touch @departures nope").code == .noSuchKey)
    #expect(try shell.error("persist @departures nope").code == .noSuchKey)
  }
}
