import Foundation
import Larder
import TestSupport
import Testing

@testable import LarderShell
@testable import ShellLanguage

/// Negative entries, which a load leaves when its origin has no value.
@Suite struct NegativeEntryTests {
  /// A shell on a store with a negative entry. Two minutes have passed since the load, and the entry expires in ten minutes.
  private func shell(_ mode: OutputMode) async throws -> Shell {
    let shell = try Shell(mode)
    let parts = shell.store.cache(of: String.self, in: "parts")
    let options = LoadOptions(absent: .after(.minutes(12)), waitsForCommit: true)
    let found = try await parts.value(for: "9999", options: options) { _ in .absent }
    #expect(found == nil)
    try await shell.store.namespace("parts").set("", for: "empty")
    shell.clock.advance(by: .minutes(2))
    return shell
  }

  @Test func `an export leaves it out and says so`() async throws {
    let shell = try await shell(.plain)
    #expect(try shell("export \(shell.file)").hasPrefix("1\t0\t"))
    #expect(shell.takeAside() == ["note: 1 negative entry was left out: there is no value"])
  }

  @Test(arguments: OutputMode.allCases)
  func `get says so in every mode, and prints no empty value`(mode: OutputMode) async throws {
    let shell = try await shell(mode)
    for line in ["get 9999", "get 9999 --as text", "get 9999 --out \(shell.file)"] {
      let error = try shell.error(line)
      #expect(error.code == .noSuchKey && error.code.exitCode == 1)
      #expect(
        error.message.description
          == "\"9999\" in parts is a negative entry: it records that there is no value")
      #expect(
        error.hint?.description == "written 2 min ago, expires in 10 min (22:25); `info` shows it")
      #expect(shell.printed == [])
    }
    #expect(!FileManager.default.fileExists(atPath: shell.file))
    #expect(try shell.error("get empty 9999").message.description == "no entry \"9999\" in parts")
    // An empty value counts as a value.
    try shell("get empty")
    #expect(shell.outcome == .done)
  }

  @Test func `info says so in every mode`() async throws {
    let shell = try await shell(.table)
    let table = try shell("info 9999")
    #expect(table.contains("negative       yes\n"))
    #expect(table.hasSuffix("\na negative entry: it records that there is no value\n"))
    let other = try shell("info empty")
    #expect(other.contains("negative       no\n") && !other.contains("nothing"))
    for mode in ["json", "jsonl"] {
      #expect(try shell("output \(mode)", "info 9999").contains("\"negative\":true,"))
      #expect(try shell("info empty").contains("\"negative\":false,"))
    }
    let lines = try shell("output csv", "info 9999").split(separator: "\r\n")
    let column = try #require(
      lines[0].split(separator: ",", omittingEmptySubsequences: false).firstIndex(of: "negative"))
    #expect(lines[1].split(separator: ",", omittingEmptySubsequences: false)[column] == "true")
    #expect(try shell("output plain", "info 9999").contains("\nnegative\ttrue\n"))
    #expect(try shell("output raw", "info 9999").contains("\tfresh\ttrue\t"))
  }

  @Test func `to other commands it is an entry without a value`() async throws {
    let shell = try await shell(.plain)
    #expect(try shell("exists 9999 empty") == "false\ntrue\n")
    #expect(shell.outcome == .exitCode(1))
    #expect(try shell("keys") == "9999\nempty\n")
    #expect(try shell.error("set @parts 9999 x --if-present").code == .noSuchKey)
    try shell("set @parts 9999 x --if-absent")
    #expect(try shell("output raw", "get 9999") == "x")
  }
}
