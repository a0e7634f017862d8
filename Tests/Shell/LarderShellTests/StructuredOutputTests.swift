import Foundation
import Larder
import TestSupport
import Testing

@testable import LarderShell
@testable import ShellLanguage

/// The forms for programs: one document for each answer, with one form of times, sizes and nulls. The tests run one at a
/// time, because the commands write the same file.
@Suite(.serialized) struct StructuredOutputTests {
  private static let file = TemporaryDirectory.unusedPath

  /// A line for each command that answers, some with several forms of answers.
  private static let lines = [
    "namespaces", "keys @a", "keys @a --show .n,written,tags,.x", "count @a", "count @a --by .n",
    "sum .n @a", "min written @a", "max ttl @a", "avg .n @a --by .v", "get @a k1", "get @a k1 k2",
    "get @a k1 .n", "get @b * --as hex", "get @a k1 --force --out \(file)", "info @a k1 k2",
    "exists @a k1", "ttl @a", "expiring @* --within 9h", "search v @a", "sizes", "sizes @a",
    "plot sizes @a", "plot expiry @*", "diff @a k1 k2", "diff @a k1 k1",
    "set @a k v", "touch @a k1 --ttl 9h", "expire @a k1 9h", "persist @a k1", "evict @a k2",
    "purge", "clear @b --yes", "invalidate red --yes", "pin @a k1", "unpin @a k1", "stats",
    "stats @a", "limits", "limits @a --entries 9", "limits @a --entries 1 --dry-run",
    "rename @a @z", "export \(file) --force", "import - --yes", "import - --dry-run",
    "report \(file) --force", "compact", "sync", "verify", "verify --deep",
    "salvage \(file).larder", "use @a", "use", "output", "option", "option utc",
    "option durability durable", "history", "history --clear --yes", "echo a b", "help",
    "help evict", "help times",
  ]

  /// Commands without an answer of their own here: they run other commands, need a person, wait, or end the session.
  private static let others = ["browse", "edit", "undo", "watch", "source", "quit"]

  @Test func `every command is tried`() {
    let tried = Set(Self.lines.map { String($0.prefix { $0 != " " }) } + Self.others)
    #expect(tried == Set(CommandTable.standard.commands.map(\.name)))
  }

  private func shell(_ mode: OutputMode) throws -> Shell {
    let shell = try Shell(mode)
    for (namespace, count) in [("a", 2), ("b", 1)] {
      for number in 1...count {
        var attributes = EntryAttributes(
          codec: .json, expires: number == 1 ? .after(.milliseconds(3_600_500)) : .never)
        attributes.tags = ["red"]
        try shell.store.namespace(namespace).set(
          bytes("{\"n\":\(number),\"v\":true}"), for: "k\(number)", attributes)
      }
    }
    shell.input = try shell.bytes("export - @a")
    return shell
  }

  private func answer(to line: String, as mode: OutputMode) throws -> String {
    defer {
      for path in [Self.file, "\(Self.file).larder"] {
        try? FileManager.default.removeItem(atPath: path)
      }
    }
    return try shell(mode)(line)
  }

  @Test(arguments: lines) func `every answer is a document`(line: String) throws {
    let json = try answer(to: line, as: .json)
    let value = try JSONSerialization.jsonObject(with: Data(json.utf8), options: .fragmentsAllowed)
    #expect(json.hasSuffix("\n") && json.dropLast().allSatisfy { $0 != "\n" })
    check(value, under: "", of: line)
    let lines = try answer(to: line, as: .jsonl).split(separator: "\n")
    for line in lines { _ = try JSONText(Array(line.utf8)) }
    // CSV also has the value itself in this field, and the value may be null.
    guard line != "get @a k1 .n" else { return }
    let csv = try answer(to: line, as: .csv)
    #expect(csv.hasSuffix("\r\n"))
    let fields = csv.unicodeScalars.split { [",", "\r", "\n"].contains($0) }
    #expect(!fields.contains { $0.elementsEqual("null".unicodeScalars) }, "\(csv)")
  }

  private static let moments = [
    "expires", "written", "used", "stale_until", "next_expiry", "earliest", "latest", "time",
  ]
  private static let sizes = [
    "size", "stored", "bytes", "before", "after", "file_size", "largest_value", "limit_bytes",
  ]

  /// A moment is RFC 3339 in UTC with milliseconds, a size is a number of bytes, and a duration is a number of seconds.
  private func check(_ value: Any, under name: String, of line: String) {
    switch value {
    case let list as [Any]: for item in list { check(item, under: name, of: line) }
    case let object as [String: Any]:
      for (name, item) in object { check(item, under: name, of: line) }
    case is NSNull: break
    default:
      // The answer of `limits` has a field with the name of a moment for the use of a limit.
      if Self.moments.contains(name), !line.hasPrefix("limits") {
        let text = value as? String
        #expect(
          text?.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/) != nil,
          "\(line): \(name) \(value)")
      } else if Self.sizes.contains(name), !line.hasPrefix("diff") {
        #expect(value is Int, "\(line): \(name) \(value)")
      } else if name == "expires_in" || name == "ttl" {
        #expect(value is Double, "\(line): \(name) \(value)")
      }
    }
  }
}
