import Foundation
import Larder
import TestSupport
import Testing

@testable import LarderShell
@testable import ShellLanguage

@Suite struct CompactCommandTests {
  private func filled() throws -> Shell {
    let shell = try Shell()
    let a = shell.store.namespace("a")
    for number in 0..<300 { try a.set([UInt8](repeating: 1, count: 3000), for: number) }
    try shell.store.sync()
    for number in 0..<290 { try a.remove(number) }
    return shell
  }

  @Test func `a store shrinks, and the session goes on`() throws {
    let shell = try filled()
    try shell("keys --limit 3")
    let answer = try shell("compact")
    #expect(answer.contains(" \u{2192} ") && answer.contains("MB") && answer.hasSuffix("kB\n"))
    #expect(try shell("count") == "10 entries, 30 kB\n")
    try shell("set new value", "verify")
    #expect(shell.outcome == .done)
  }

  @Test func `interrupted, nothing has changed`() throws {
    let shell = try filled()
    shell.stepsUntilInterrupted = 0
    let error = try shell.error("compact")
    #expect(error.code == .interrupted)
    #expect(error.message.description == "interrupted: the file is unchanged")
    shell.stepsUntilInterrupted = 0
    #expect(
      try shell.error("compact --to \(shell.file)").message.description
        == "interrupted: no copy was made"
    )
    #expect(!FileManager.default.fileExists(atPath: shell.file))
    shell.stepsUntilInterrupted = .max
    #expect(try shell("count") == "10 entries, 30 kB\n")
  }
}
