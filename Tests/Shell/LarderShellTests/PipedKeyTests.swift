import Foundation
import Larder
import Testing

@testable import LarderShell
@testable import ShellLanguage

/// Keys from standard input.
@Suite struct PipedKeyTests {
  private func shell(_ mode: OutputMode) throws -> Shell {
    let shell = try Shell(mode)
    for key in ["a", "b", "c"] {
      try shell("set @n \(key) value --ttl 1h")
    }
    return shell
  }

  @Test(arguments: ["", " --sort key", " --limit 1", " --reverse"])
  func `charts are of the keys from standard input`(order: String) throws {
    let shell = try shell(.table)
    shell.input = bytes("a\nc\n")
    let chart = try shell("plot sizes @n --stdin\(order)")
    #expect(chart.contains("  \(order.contains("limit") ? 1 : 2) "), "\(chart)")
    shell.input = bytes("a\nc\n")
    let list = try shell("expiring @n --within 2h --stdin\(order)")
    #expect(list.contains("< 2 h     2 "), "\(list)")
    let keys = ["\"a\"", "\"b\"", "\"c\""].filter(list.contains)
    #expect(keys == (order.contains("limit") ? ["\"a\""] : ["\"a\"", "\"c\""]), "\(list)")
  }

  @Test func `charts are of the namespaces that the records name`() throws {
    let shell = try shell(.table)
    try shell("set @other a value --ttl 1h")
    shell.input = bytes(
      #"{"namespace":"n","key":"a"}"# + "\n" + #"{"namespace":"other","key":"b"}"#)
    let chart = try shell("plot sizes @n @other --stdin --json")
    #expect(chart.contains("  1 "), "\(chart)")
    shell.input = bytes(#"{"namespace":"other","key":"a"}"#)
    let list = try shell("expiring @n @other --within 2h --stdin --json")
    #expect(list.contains("< 2 h     1 ") && list.contains("other"), "\(list)")
  }

  @Test func `a key of a record leaves the listed keys of other namespaces`() throws {
    let shell = try shell(.plain)
    try shell("set @other a value", "set @other b value")
    shell.input = bytes(#"{"namespace":"n","key":"a"}"#)
    try shell("evict @n @other b --stdin --json")
    #expect(try shell("keys @n", "keys @other") == "c\na\n")
  }

  @Test func `keys from standard input are saved and removed`() throws {
    let shell = try shell(.plain)
    shell.input = bytes("a\nc\n")
    #expect(try shell("evict @n --stdin --yes --save \(shell.file)") == "evict\tn\t2\t10\n")
    #expect(try shell("keys @n") == "b\n")
    #expect(
      try String(contentsOfFile: shell.file, encoding: .utf8).split(separator: "\n").count == 4)
  }

  @Test(arguments: [
    ("a b c --limit 2", "a b"), ("c b a --sort key", "a b c"), ("a b c --after a", "b c"),
    ("a b --reverse", "b a"), ("c a b --sort size --limit all", "a b c"), ("c a", "c a"),
  ])
  func `get arranges the keys that are listed`(words: String, keys: String) throws {
    let shell = try shell(.plain)
    let shown = try shell("get @n \(words)").split(separator: "\n").compactMap {
      $0.split(separator: "\t").first
    }
    #expect(shown.joined(separator: " ") == keys)
    #expect(
      try shell.error("get @n nope \(words)").message.description == "no entry \"nope\" in n")
  }
}
