import Foundation
import Larder
import TestSupport
import Testing

@testable import LarderShell
@testable import ShellLanguage

extension Shell {
  fileprivate func setNumber(in namespace: String, _ number: Int, expires: Expiration) throws {
    try store.namespace(namespace).set(
      Array("{\"n\":\(number),\"v\":true}".utf8), for: "k\(number)",
      .with(codec: .json, expires: expires, tags: ["red"]))
  }
}

private func removeOutput(_ file: String) {
  for path in [file, "\(file).larder"] { try? FileManager.default.removeItem(atPath: path) }
}

/// The fields of plain output must be the fields that the help and the document list.
@Suite struct PlainOutputTests {
  @Test func `a terminal sees no control of a key in raw output either`() throws {
    let key: [UInt8] = [0x61, 0x1B, 0x5D] + Array("\u{9B}\u{202E}".utf8)
    for isTerminal in [true, false] {
      let shell = try Shell(.raw) { $0.isTerminal = isTerminal }
      try shell.store.namespace("a").set("x", for: key)
      let expected = isTerminal ? Array("a\\e]\\u{9b}\\u{202e}\n".utf8) : key + [10]
      #expect(try shell.bytes("keys") == expected)
    }
  }

  private struct Form: Hashable {
    let words: String
    let fields: [Substring]
  }

  private static let file = TemporaryDirectory.unusedPath

  /// A command line for each form of answer.
  private static let lines: [String: String] = [
    "namespaces": "namespaces", "keys": "keys @a", "keys --long": "keys @a --long",
    "keys --show EXPR,...": "keys @* --show size", "count": "count @a",
    "count --by OPERAND": "count @a --by size", "get KEY KEY...": "get @* k1 k2",
    "get KEY KEY... .PATH": "get @* k1 k3 .n", "info": "info @a k1",
    "info KEY KEY...": "info @a k1 k2", "exists": "exists @a k1 k2",
    "exists --stdin": "exists @a --stdin", "ttl": "ttl @a", "expiring": "expiring @a --within 9h",
    "search": "search v @a", "sizes": "sizes", "sizes --by prefix": "sizes @* --by prefix",
    "sizes --by key": "sizes @* --by key", "plot": "plot sizes @a", "watch": "watch @a --count 1",
    "watch --values": "watch @a --values --count 1", "diff FILE": "diff \(file)",
    "diff KEY KEY": "diff @a k1 k3", "set": "set @a k v", "touch": "touch @a k1 --ttl 9h",
    "expire": "expire @a k1 9h", "persist": "persist @a k1", "evict": "evict @a k1",
    "purge": "purge @a", "clear": "clear @a --yes", "invalidate": "invalidate red --yes",
    "pin": "pin @a k1", "unpin": "unpin @a k1", "undo": "undo", "stats": "stats",
    "limits": "limits @c", "limits --entries N": "limits @a --entries 1 --yes",
    "rename": "rename @a @z", "import": "import - --on-conflict replace --yes",
    "compact": "compact", "get --out FILE": "get @a k1 --force --out \(file)",
    "export": "export \(file) --force", "report": "report \(file) --force",
    "salvage": "salvage \(file).larder", "verify": "verify", "option": "option", "output": "output",
    "history": "history",
  ]

  private static let forms = CommandTable.standard.commands.flatMap(\.plainForms).map {
    Form(words: $0.words, fields: $0.fields.split(separator: " "))
  }

  @Test func `every form is tried`() {
    let aggregates = ["sum", "min", "max", "avg"].flatMap { [$0, "\($0) --by OPERAND"] }
    #expect(Set(Self.forms.map(\.words)) == Set(Array(Self.lines.keys) + aggregates))
  }

  private func shell() throws -> Shell {
    let shell = try Shell(.plain)
    for (namespace, count) in [("a", 3), ("b", 2)] {
      for number in 1...count {
        try shell.setNumber(in: namespace, number, expires: .after(.hours(number)))
      }
    }
    try shell.store.declare(Rules(limits: Limits(entries: 5)), for: "c")
    shell.meanwhile = { [unowned shell] in try shell.store.namespace("a").set("new", for: "k1") }
    shell.pauses = 9
    return shell
  }

  private func answer(to form: Form, in shell: Shell, as mode: OutputMode) throws -> [[Substring]] {
    let words = form.words.split(separator: " ")
    let line = Self.lines[form.words] ?? "\(words[0]) .n @a\(words.count > 1 ? " --by .v" : "")"
    let isCSV = mode == .csv
    return try shell("output \(mode.rawValue)", line).split(separator: isCSV ? "\r\n" : "\n")
      .map { $0.split(separator: isCSV ? "," : "\t", omittingEmptySubsequences: false) }
  }

  @Test func `a line has the fields that the table names`() throws {
    defer { removeOutput(Self.file) }
    for form in Self.forms {
      let shell = try shell()
      if form.words == "import" { shell.input = try shell.bytes("export - @a") }
      if form.words == "exists --stdin" { shell.input = bytes("k1\nk2\n") }
      if form.words == "undo" { try shell("evict @a k1") }
      if form.words == "diff FILE" {
        try shell("export \(Self.file) @a --force")
        try shell.store.namespace("a").set("new", for: "k1")
      }
      let plain = try answer(to: form, in: shell, as: .plain)
      // Removes the new store of `salvage`, because the CSV run makes it again.
      if form.words == "salvage" {
        try FileManager.default.removeItem(atPath: "\(Self.file).larder")
      }
      // All lines in `lines` read several namespaces, so each answer also has the fields that the table shows in brackets.
      #expect(plain.allSatisfy { $0.count == form.fields.count }, "\(form) \(plain)")
      if form.fields.first == "verb" {
        #expect(plain.first?.first == form.words.split(separator: " ").first)
        continue
      }
      let csv = try answer(to: form, in: shell, as: .csv)
      guard let header = csv.first, csv.count == plain.count + 1 else { continue }
      for (row, fields) in zip(csv.dropFirst(), plain) {
        for (name, field) in zip(form.fields, fields) {
          let name = name.filter { !"[]".contains($0) }
          // Skips the time, because the CSV run watches a later change at another time.
          guard let column = header.firstIndex(where: { $0 == name }), row.count == header.count,
            name != "time"
          else { continue }
          #expect(Self.unquoted(row[column]) == Self.unescaped(field), "\(form.words): \(name)")
        }
      }
    }
  }

  private static func unquoted(_ field: Substring) -> String {
    guard field.hasPrefix("\"") else { return String(field) }
    return String(field.dropFirst().dropLast().replacing("\"\"", with: "\""))
  }

  /// CSV leaves a field empty where plain output has `null`.
  private static func unescaped(_ field: Substring) -> String {
    field == "null" ? "" : String(field.replacing("\\\"", with: "\""))
  }
}

/// The output forms for programs. Each answer is one document, and times, sizes and nulls always have the same form. The tests
/// run one at a time, because the commands write the same file.
@Suite(.serialized) struct StructuredOutputTests {
  private static let file = TemporaryDirectory.unusedPath

  /// Lines for each command with an answer. A command with several forms of answers has several lines.
  private static let lines = [
    "namespaces", "keys @a", "keys @a --show .n,written,tags,.x", "count @a", "count @a --by .n",
    "sum .n @a", "min written @a", "max ttl @a", "avg .n @a --by .v", "get @a k1", "get @a k1 k2",
    "get @a k1 .n", "get @b * --as hex", "get @a k1 --force --out \(file)", "info @a k1 k2",
    "exists @a k1", "ttl @a", "expiring @* --within 9h", "search v @a", "sizes", "sizes @a",
    "plot sizes @a", "plot expiry @*", "diff @a k1 k2", "diff @a k1 k1", "set @a k v",
    "touch @a k1 --ttl 9h", "expire @a k1 9h", "persist @a k1", "evict @a k2", "purge",
    "clear @b --yes", "invalidate red --yes", "pin @a k1", "unpin @a k1", "stats", "stats @a",
    "limits", "limits @a --entries 9", "limits @a --entries 1 --dry-run", "rename @a @z",
    "export \(file) --force", "import - --yes", "import - --dry-run", "report \(file) --force",
    "compact", "sync", "verify", "verify --deep", "salvage \(file).larder", "use @a", "use",
    "output", "option", "option utc", "option durability durable", "history",
    "history --clear --yes", "echo a b", "help", "help evict", "help times",
  ]

  /// Commands without a test here: they run other commands, need a person, wait, or end the session.
  private static let others = ["browse", "edit", "undo", "watch", "source", "quit"]

  @Test func `every command is tried`() {
    let tried = Set(Self.lines.map { String($0.prefix { $0 != " " }) } + Self.others)
    #expect(tried == Set(CommandTable.standard.commands.map(\.name)))
  }

  private func shell(_ mode: OutputMode) throws -> Shell {
    let shell = try Shell(mode)
    for (namespace, count) in [("a", 2), ("b", 1)] {
      for number in 1...count {
        try shell.setNumber(
          in: namespace, number, expires: number == 1 ? .after(.milliseconds(3_600_500)) : .never)
      }
    }
    shell.input = try shell.bytes("export - @a")
    return shell
  }

  private func answer(to line: String, as mode: OutputMode) throws -> String {
    defer { removeOutput(Self.file) }
    return try shell(mode)(line)
  }

  @Test(arguments: lines) func `every answer is a document`(line: String) throws {
    let json = try answer(to: line, as: .json)
    let value = try JSONSerialization.jsonObject(with: Data(json.utf8), options: .fragmentsAllowed)
    #expect(json.hasSuffix("\n") && json.dropLast().allSatisfy { $0 != "\n" })
    check(value, under: "", of: line)
    let lines = try answer(to: line, as: .jsonl).split(separator: "\n")
    for line in lines { _ = try JSONText(Array(line.utf8)) }
    // For this line, CSV prints the value itself. The value may be the text `null`, so the check for `null` below is skipped.
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
      // In the answer of `limits`, the field `used` is the use of a limit. In other answers, `used` is a moment.
      if Self.moments.contains(name), !line.hasPrefix("limits") {
        #expect(
          (value as? String)?.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/) != nil,
          "\(line): \(name) \(value)")
      } else if Self.sizes.contains(name), !line.hasPrefix("diff") {
        #expect(value is Int, "\(line): \(name) \(value)")
      } else if name == "expires_in" || name == "ttl" {
        #expect(value is Double, "\(line): \(name) \(value)")
      }
    }
  }
}
