import Foundation
import Larder
import TestSupport
import Testing

@testable import LarderShell
@testable import ShellLanguage

@Suite struct SetCommandTests {
  @Test func `a value comes from a file or standard input byte for byte`() throws {
    let shell = try Shell(.plain)
    let value = (0...255).map { UInt8($0) } + [0, 10, 13]
    try Data(value).write(to: URL(fileURLWithPath: shell.file))
    try shell("set @a f --from \(shell.file)")
    try shell("output raw")
    #expect(try shell.bytes("get f") == value)
    shell.input = value
    try shell("set i --from -")
    #expect(try shell.session.store.namespace("a").value(for: "i") == value)
    let absent = try shell.error("set x --from \(shell.file)-no")
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
  @Test func `persist and touch do as they say`() throws {
    let shell = try Shell.filled()
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
