import Larder
import Testing

@testable import LarderShell
@testable import ShellLanguage

/// Keys from standard input.
@Suite struct PipedKeyTests {
  private func shell(_ mode: OutputMode = .json) throws -> Shell {
    let shell = try Shell(mode)
    for key in ["a", "b", "c"] {
      try shell("set @n \(key) value --ttl 1h")
    }
    return shell
  }

  @Test(arguments: [
    "evict @n", "expire @n 2h", "pin @n", "touch @n --ttl 3h", "persist @n",
    // A key that the words name as well.
    "evict @n a", "pin @n [ab]",
  ])
  func `a key that comes twice counts once, in a dry run and in the change`(words: String) throws {
    let shell = try shell()
    let line =
      words.hasPrefix("expire") ? "expire @n --stdin 2h" : words + " --stdin"
    shell.input = bytes("a\nb\na\nnope\nnope\na\n")
    let dry = try shell(line + " --dry-run")
    shell.input = bytes("a\nb\na\nnope\nnope\na\n")
    let real = try shell(line + " --yes")
    for answer in [dry, real] {
      #expect(answer.contains("\"count\":2,") || answer.contains("\"changed\":2,"), "\(answer)")
      #expect(answer.contains("\"absent\":1"), "\(answer)")
    }
  }

  @Test(arguments: [
    ("count @n --stdin", "{\"entries\":2,\"bytes\":10,\"expired\":0}\n"),
    ("sizes @n --by namespace --stdin", "\"entries\":2,\"bytes\":10"),
    ("export - @n --stdin", "\"key\":\"a\""), ("keys @n --stdin", "\"key\":\"a\""),
  ])
  func `a key that comes twice is one entry`(line: String, part: String) throws {
    let shell = try shell()
    shell.input = bytes("a\nb\na\n")
    let answer = try shell(line)
    #expect(answer.split(separator: part, omittingEmptySubsequences: false).count == 2, "\(answer)")
  }

  @Test func `a key that comes twice alone needs no confirmation`() throws {
    let shell = try shell(.plain)
    shell.input = bytes("a\na\n")
    #expect(try shell("evict @n --stdin") == "evict\tn\t1\t5\n")
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

  @Test(arguments: [OutputMode.table])
  func `nothing expires in words for a person`(mode: OutputMode) throws {
    let shell = try shell(mode)
    #expect(
      try shell("expiring @n --within 1m").hasPrefix("nothing expires before "), "\(mode)")
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
