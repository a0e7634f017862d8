import Foundation
import Larder
import TestSupport
import Testing

@testable import LarderShell
@testable import ShellLanguage

/// Imports with many or long lines. The sessions `import` and `refusals` test the lines that an import takes or refuses.
@Suite struct ImportLineTests {
  @Test func `every rule and override that an export writes is known`() throws {
    let shell = try Shell(.plain)
    let limits = Limits(entries: 5, bytes: 1000, guaranteed: 100)
    let daily = Expiration.daily(at: TimeOfDay(4), in: "Europe/Zurich")
    let rules = [
      Rules(
        expires: .after(.hours(1)), stale: .seconds(1), jitter: 0.1, limits: limits,
        eviction: .fifo, priority: .low, largestValue: 10, version: 3),
      Rules(expires: daily), Rules(expires: .at(shell.clock.now)),
      Rules(expires: .afterAccess(.hours(1))),
    ]
    let overrides = Rules.Overrides(
      expires: daily, stale: .seconds(2), jitter: 0.2, limits: limits, eviction: .fifo,
      priority: .high, largestValue: 11)
    for (number, rules) in rules.enumerated() { try shell.store.declare(rules, for: "n\(number)") }
    try shell.store.override(overrides, for: "n0")
    let other = try Shell(.plain)
    other.input = bytes(try shell("export - @*"))
    try other("import -")
    let (old, new) = (try shell.store.namespaces(), try other.store.namespaces())
    #expect(old.map(\.declared) == new.map(\.declared))
    #expect(old.map(\.overrides) == new.map(\.overrides))
    #expect(new.count == 4 && new.first?.overrides == overrides)
  }

  /// The log of the tier may have removed the copy since the export, and this store may be at a later position in the log.
  @Test func `an import stores no copy and no position of a shared tier`() throws {
    let shell = try Shell(.plain)
    let (state, copies) = (shell.store.namespace(Store.tierState), shell.store.namespace("a"))
    for key in [Store.tierNote + "a", Store.tierProgress] { try state.set("old", for: key) }
    try copies.set([1], for: "k", .with(metadata: [UInt8](repeating: 0, count: 24)))
    let lines = try shell("export - @*")
    try copies.remove("k")
    try state.remove(Store.tierProgress)
    shell.input = bytes(lines)
    try shell("import -")
    #expect(try copies.count() == 0 && state.count() == 1)
  }

  @Test func `an interrupted preview has imported nothing`() throws {
    let shell = try Shell(.plain)
    shell.input = export([#"{"namespace":"w","key":"j","value":"v"}"#])
    shell.stepsUntilInterrupted = 1
    let error = try shell.error("import - --dry-run")
    #expect(error.code == .interrupted && error.hint == nil)
  }

  @Test(arguments: [
    ("2027-11-21T06:30:00.1Z", 100), ("2027-11-21T06:30:00.12Z", 120),
    ("2027-11-21T06:30:00.123456789Z", 123), ("2027-11-21T06:30:00Z", 0),
  ]) func `a time may be finer than milliseconds`(text: String, milliseconds: Int64) throws {
    let second = UnixTime(rfc3339: "2027-11-21T06:30:00Z")
    #expect(try #require(UnixTime(rfc3339: text)).since(#require(second)) == milliseconds)
  }

  @Test func `a large file without lines is not read to its end`() throws {
    let shell = try Shell()
    try Data(repeating: UInt8(ascii: "x"), count: 1_000_000).write(
      to: URL(fileURLWithPath: shell.file))
    for command in ["import", "diff"] {
      let error = try shell.error("\(command) \(shell.file)")
      #expect(error.code == .usage)
      #expect(error.message.description == "\(shell.file):1:1: the line is longer than 64 kB")
      #expect(error.hint?.description == "it does not begin like an export")
    }
    shell.input = bytes(String(repeating: "x", count: 1_000_000))
    #expect(
      try shell.error("import -").message.description == "stdin:1:1: the line is longer than 64 kB")
    // The lines after the first line may be longer than 64 kB.
    try shell(
      "set @a k \(String(repeating: "v", count: 200_000))", "export \(shell.file) @a --force")
    try shell("evict @a k", "import \(shell.file)")
    #expect(try shell("count @a") == "1 entry, 200 kB\n")
  }
}

/// Compares `import --dry-run` with the import itself.
@Suite struct ImportPreviewTests {
  private static let refused: [String] = [
    #"{"namespace":"a","key":"","value":"v"}"#, #"{"namespace":"","key":"k","value":"v"}"#,
    #"{"namespace":"a b","key":"k","value":"v"}"#,
    #"{"namespace":"a","key":"k","value":"0123456789abcdef"}"#,
    #"{"namespace":"a","key":"k","value":"v","tags":[""]}"#,
    #"{"namespace":"a","key":"k","value":"v","codec":"+5"}"#,
    #"{"namespace":"a","key":"k","value":"v","owners":[{"namespace":"a b","key":"k"}]}"#,
    #"{"namespace":"a","key":"\#(String(repeating: "k", count: 70_000))","value":"v"}"#,
    #"{"namespace":"new","rules":{"limits":{"entries":-5}}}"#,
    #"{"namespace":"new","rules":{},"overrides":{"largestValue":0}}"#,
    #"{"namespace":"new","rules":{"largestValue":3}}"# + "\n"
      + #"{"namespace":"new","key":"k","value":"long"}"#,
  ]

  @Test(arguments: refused) func `a dry run refuses what the import refuses`(line: String) throws {
    let shell = try Shell(.plain)
    try shell.store.declare(
      Rules(limits: Limits(entries: 3), eviction: .refuse, largestValue: 10), for: "a")
    // The entry has expired, so the import may replace it even with `--on-conflict fail`.
    try shell("set @a old v --ttl 1s")
    shell.clock.advance(by: .seconds(2))
    shell.input = export([line])
    let dry = try shell.error("import - --on-conflict fail --dry-run")
    #expect(try shell.store.namespaces().map(\.name) == ["a"])
    shell.input = export([line])
    let real = try shell.error("import - --on-conflict fail")
    #expect(dry.message == real.message && dry.code == real.code && dry.hint == real.hint)
    #expect(dry.message.description.hasPrefix("stdin:"))
  }

  @Test(arguments: [StoreLimits(bytes: 20), StoreLimits(entries: 0)])
  func `a dry run refuses what the limits of the store refuse`(limits: StoreLimits) throws {
    let shell = try Shell(.plain)
    try shell.store.declare(limits)
    let input = export([#"{"namespace":"a","key":"k","value":"0123456789012345678901234567890"}"#])
    shell.input = input
    let dry = try shell.error("import - --dry-run")
    shell.input = input
    let real = try shell.error("import -")
    #expect(dry.message == real.message && dry.code == real.code && dry.hint == real.hint)
  }
}
