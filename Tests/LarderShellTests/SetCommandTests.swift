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
    let present = try shell.error("set k x --if-absent")
    #expect(present.code == .exists && present.code.exitCode == 5)
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
    #expect(absent.code == .io && absent.message.description.hasSuffix("there is no such file"))
    #expect(try Shell(hasInput: false).error("set @a x --from -").code == .usage)
  }

  @Test func `a value over the limit is refused with both sizes`() throws {
    let shell = try Shell(.plain)
    try shell.store.declare(Rules(largestValue: 1000), for: "small")
    shell.input = [UInt8](repeating: 65, count: 1001)
    let error = try shell.error("set @small k --from -")
    #expect(error.code == .overLimit && error.code.exitCode == 5)
    #expect(
      error.message.description == "the value has 1,001 bytes, and small takes 1,000 at most")
    #expect(try shell("count") == "0\t0\t0\n")
  }
}

@Suite struct LifetimeCommandTests {
  @Test func `expire sets an end and says which`() throws {
    let shell = try Shell()
    try shell.fill()
    #expect(
      try shell("expire @departures 'Malm\u{F6} C:'* midnight")
        == "4 entries expire Sat 21 Nov 00:00 (in 1 h 47 min)\n")
    #expect(
      try shell("expire @departures Kiruna:05 1h30m")
        == "1 entry expires Fri 20 Nov 23:43 (in 1 h 30 min)\n")
    #expect(try shell("expire @departures Kiruna:05 never") == "1 entry never expires\n")
    #expect(try shell("output plain", "expire @articles * 1h") == "expire\tarticles\t3\t3000\n")
    #expect(
      try shell("output json", "expire @articles 000011 1h")
        == "{\"count\":1,\"expires\":\"2026-11-20T22:13:00.000Z\"}\n")
    #expect(try shell.error("expire @articles nope 1h").code == .noSuchKey)
  }

  @Test func `a time in the past is asked about where somebody can answer`() throws {
    let shell = try Shell(hasPerson: true)
    try shell.fill()
    shell.answer = false
    #expect(try shell("expire @articles * 2026-11-20") == "")
    #expect(shell.questions == ["That is 22 h 13 min ago. Expire 3 entries, 3 kB at once?"])
    #expect(try shell("count @articles") == "3 entries, 3 kB\n")
    shell.answer = true
    try shell("expire @articles * 2026-11-20")
    #expect(try shell("count @articles") == "0 entries, 0 B, 3 expired\n")
    let script = try Shell(.plain)
    try script.fill()
    #expect(try script("expire @articles * 2026-11-20") == "expire\tarticles\t3\t3000\n")
  }

  @Test func `persist and touch do as they say`() throws {
    let shell = try Shell()
    try shell.fill()
    #expect(try shell("persist @departures K*") == "1 entry never expires\n")
    #expect(try shell("ttl @departures K*") == "\"Kiruna:05\"  never\n")
    #expect(
      try shell("touch @departures K* --ttl 2h")
        == "touched 1, expires Sat 21 Nov 00:13 (in 2 h)\n")
    try shell.store.declare(Rules(expires: .after(.minutes(5))), for: "departures")
    #expect(try shell("touch @departures") == "touched 5\n")
    #expect(try shell("ttl @departures K*") == "\"Kiruna:05\"  in 5 min (22:18)\n")
    #expect(try shell("output plain", "touch @departures K*") == "touch\tdepartures\t1\t11\n")
    #expect(try shell("output json", "touch @departures K*") == "{\"touched\":1}\n")
    #expect(try shell("persist @departures K*") == "{\"count\":1}\n")
    #expect(try shell.error("touch @departures nope").code == .noSuchKey)
    #expect(try shell.error("persist @departures nope").code == .noSuchKey)
  }
}
