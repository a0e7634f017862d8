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

  @Test func `a source without an end is read no further than the limit`() throws {
    var reads = 0
    let host = LarderShell.Host(
      write: { _ in },
      read: { _ in
        LarderShell.Host.Input {
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
