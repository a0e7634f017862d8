import Foundation
import Larder
import TestSupport
import Testing

@testable import LarderShell
@testable import ShellLanguage

/// `import --dry-run` beside the import.
@Suite struct ImportPreviewTests {
  private func lines(_ lines: String...) -> [UInt8] { self.lines(lines) }

  private func lines(_ lines: [String]) -> [UInt8] {
    bytes((["{\"larder_export\":1}"] + lines).joined(separator: "\n") + "\n")
  }

  private static let refused: [String] = [
    #"{"namespace":"a","key":"","value":"v"}"#,
    #"{"namespace":"","key":"k","value":"v"}"#,
    #"{"namespace":"a b","key":"k","value":"v"}"#,
    #"{"namespace":"a","key":"k","value":"0123456789abcdef"}"#,
    #"{"namespace":"a","key":"k","value":"v","tags":[""]}"#,
    #"{"namespace":"a","key":"k","value":"v","owners":[{"namespace":"a b","key":"k"}]}"#,
    #"{"namespace":"a","key":"\#(String(repeating: "k", count: 70_000))","value":"v"}"#,
    #"{"namespace":"new","rules":{"limits":{"entries":-5}}}"#,
    #"{"namespace":"new","rules":{},"overrides":{"largestValue":0}}"#,
    (1...4).map { #"{"namespace":"a","key":"\#($0)","value":"v"}"# }.joined(separator: "\n"),
    (1...2).map { #"{"namespace":"b","key":"k","value":"\#($0)"}"# }.joined(separator: "\n"),
    #"{"namespace":"new","rules":{"largestValue":3}}"# + "\n"
      + #"{"namespace":"new","key":"k","value":"long"}"#,
  ]

  @Test(arguments: refused)
  func `a dry run refuses what the import refuses`(line: String) throws {
    let shell = try Shell(.plain)
    try shell.store.declare(
      Rules(limits: Limits(entries: 3), eviction: .refuse, largestValue: 10), for: "a")
    // An expired entry makes room.
    try shell("set @a old v --ttl 1s")
    shell.clock.advance(by: .seconds(2))
    shell.input = lines(line)
    let dry = try shell.error("import - --on-conflict fail --dry-run")
    #expect(try shell.store.namespaces().map(\.name) == ["a"])
    shell.input = lines(line)
    let real = try shell.error("import - --on-conflict fail")
    #expect(dry.message == real.message && dry.code == real.code && dry.hint == real.hint)
    #expect(dry.message.description.hasPrefix("stdin:"))
  }

  @Test func `a dry run counts what the import stores`() throws {
    let shell = try Shell(.plain)
    try shell.store.declare(Rules(limits: Limits(entries: 2), eviction: .refuse), for: "a")
    try shell("set @a 1 v")
    shell.clock.advance(by: .seconds(1))
    let input = lines(
      #"{"namespace":"a","key":"1","value":"new"}"#, #"{"namespace":"a","key":"2","value":"v"}"#,
      #"{"namespace":"a","key":"2","value":"again"}"#)
    shell.input = input
    #expect(try shell("import - --dry-run") == "would import\ta\t2\t4\n")
    shell.input = input
    #expect(try shell("import -") == "import\ta\t2\t4\n")
    #expect(try shell("get @a 1") == "new\n")
  }

  @Test(arguments: [StoreLimits(bytes: 20), StoreLimits(entries: 0)])
  func `a dry run refuses what the limits of the store refuse`(limits: StoreLimits) throws {
    let shell = try Shell(.plain)
    try shell.store.declare(limits)
    let input = lines(#"{"namespace":"a","key":"k","value":"0123456789012345678901234567890"}"#)
    shell.input = input
    let dry = try shell.error("import - --dry-run")
    shell.input = input
    let real = try shell.error("import -")
    #expect(dry.message == real.message && dry.code == real.code && dry.hint == real.hint)
  }

  /// The lines of a batch are sorted, and a key comes again some batches later.
  @Test(arguments: ["newer", "keep", "replace"])
  func `a key that comes again counts as in the import`(rule: String) throws {
    let shell = try Shell(.plain, isReadOnly: false)
    let first = (0..<4500).map { #"{"namespace":"a","key":"\#($0 * 7919 % 4500)","value":"v"}"# }
    let again = [
      #"{"namespace":"a","key":"17","value":"newer","written":"2026-11-20T21:13:00Z"}"#,
      #"{"namespace":"a","key":"18","value":"older","written":"2020-01-01T00:00:00Z"}"#,
      #"{"namespace":"b","key":"17","value":"elsewhere"}"#,
    ]
    let input = lines(first + again + again)
    shell.input = input
    let dry = try shell("output json", "import - --on-conflict \(rule) --dry-run")
    #expect(try shell.store.namespaces().isEmpty)
    shell.input = input
    let real = try shell("import - --on-conflict \(rule) --yes")
    for name in ["added", "replaced", "skipped", "expired", "bytes"] {
      #expect(field(name, of: dry) == field(name, of: real), "\(dry) \(real)")
    }
    #expect(field("added", of: dry) == "4501")
  }

  @Test func `the file that remembers keys does not grow with their length`() throws {
    let shell = try Shell(.plain)
    var preview = try ImportPreview(of: shell.session)
    let seen = preview.seen
    let entries = try (0..<300).map { number in
      let key = String(repeating: "k", count: 60_000) + "\(number)"
      let line = #"{"namespace":"a","key":"\#(key)","value":"\#(number)"}"#
      guard case .entry(let entry) = try ImportLine(bytes(line)) else { throw Missing() }
      return entry
    }
    try seen.write { batch in
      for entry in entries {
        #expect(try preview.present(entry, &batch) == nil)
        try preview.store(entry, over: nil, at: .init(milliseconds: 0), &batch)
      }
      for entry in entries {
        #expect(try preview.present(entry, &batch)?.size == entry.value.count)
      }
    }
    #expect(try seen.statistics().file.size < 1_000_000)
  }

  @Test(arguments: ["import - --dry-run", "import -", "purge @a", "purge @a --dry-run"])
  func `what a killed preview left is removed later, and no store in use`(verb: String) throws {
    let shell = try Shell(.plain)
    let files = FileManager.default
    func age(_ path: String) throws {
      try files.setAttributes(
        [.modificationDate: Date(timeIntervalSinceNow: -1000)], ofItemAtPath: path)
    }
    let running = try ImportPreview(of: shell.session)
    try age(running.seen.path)
    let folder = files.temporaryDirectory.path + "/larder-import-"
    let (left, young) = (folder + UUID().uuidString, folder + UUID().uuidString)
    defer { for path in [left, young] { try? files.removeItem(atPath: path) } }
    for path in [left, young] {
      try files.createDirectory(atPath: path, withIntermediateDirectories: true)
      try Data("keys".utf8).write(to: URL(fileURLWithPath: path + "/data.mdb"))
      try Data().write(to: URL(fileURLWithPath: path + "/lock.open"))
    }
    try age(left)
    try shell("set @a k v")
    shell.input = lines(#"{"namespace":"a","key":"k","value":"v"}"#)
    try shell(verb)
    #expect(files.fileExists(atPath: left) == verb.hasSuffix("@a --dry-run"))
    #expect(files.fileExists(atPath: young) && files.fileExists(atPath: running.seen.path))
    withExtendedLifetime(running) {}
  }

  private struct Missing: Error {}

  private func field(_ name: String, of answer: String) -> Substring? {
    answer.split(separator: "\"\(name)\":").dropFirst().first?.prefix { $0.isNumber }
  }
}
