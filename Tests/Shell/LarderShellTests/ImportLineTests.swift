import Foundation
import Larder
import TestSupport
import Testing

@testable import LarderShell
@testable import ShellLanguage

/// Lines of an export that an import refuses, and the messages.
@Suite struct ImportLineTests {
  private static let time = #"a time such as "2026-11-21T06:30:00Z""#

  @Test(arguments: [
    // Lines with a field that the import would lose.
    (#"{"namespace":"w","Key":"j","value":"v"}"#, #"there is no field "Key"; did you mean "key"?"#),
    (
      #"{"namespace":"w","key":"j","value":"v","expire":null}"#,
      #"there is no field "expire"; did you mean "expires"?"#
    ),
    (
      #"{"namespace":"w","key":"j","value":"v","tag":["a"]}"#,
      #"there is no field "tag"; did you mean "tags"?"#
    ),
    (#"{"namespace":"w","key":"j","value":"v","x":1}"#, #"there is no field "x""#),
    (
      #"{"namespace":"w","rules":{"largestvalue":7}}"#,
      #"there is no field "largestvalue" in rules; did you mean "largestValue"?"#
    ),
    (
      #"{"namespace":"w","rules":{},"overrides":{"limits":{"entries":1,"byte":7}}}"#,
      #"there is no field "byte" in overrides.limits; did you mean "bytes"?"#
    ),
    (
      #"{"namespace":"w","rules":{"expires":{"after":1,"Zone":"x"}}}"#,
      #"there is no field "Zone" in rules.expires; did you mean "zone"?"#
    ),
    (
      #"{"namespace":"w","overrides":{"version":1}}"#, #"there is no field "version" in overrides"#
    ),
    (
      #"{"namespace":"w","key":"j","value":"v","owners":[{"namespace":"w","key":"o"},{"namespace":"w","Key":"","key":"p"}]}"#,
      #"there is no field "Key" in owners[1]; did you mean "key"?"#
    ),
    (#"{"namespace":"w","value":"v"}"#, "it has value and no key"),
    (#"{"namespace":"w","tags":["a"],"rules":{}}"#, "it has tags and no key"),
    (#"{"namespace":"w"}"#, "it has neither a key nor rules"),
    (#"{"namespace":"w","key":"j","value":"v","rules":{}}"#, "rules are in a line without key"),
    // Lines with a field of a wrong kind.
    (#"{"namespace":1,"key":"j","value":"v"}"#, "namespace must be a string"),
    (#"{"namespace":"w","key":"j","value":"v","written":true}"#, "written must be \(time)"),
    (#"{"namespace":"w","key":"j","value":"v","idle":"1h"}"#, "idle must be a number of seconds"),
    (
      #"{"namespace":"w","key":"j","value":"v","idle":0}"#,
      "idle must be a number of seconds above 0"
    ),
    (
      #"{"namespace":"w","key":"j","value":"v","idle":3}"#,
      "idle is in a line without a time in expires"
    ),
    (
      #"{"namespace":"w","key":"j","value":"v","stale_until":"2027-11-21T06:30:00Z"}"#,
      "stale_until must be a time at or after expires"
    ),
    (
      #"{"namespace":"w","key":"j","value":"v","expires":"2027-11-22T06:30:00Z","stale_until":"2027-11-21T06:30:00Z"}"#,
      "stale_until must be a time at or after expires"
    ),
    (
      #"{"larder_export":1,"namespace":"w","key":"j","value":"v"}"#,
      "larder_export is in a line with other fields"
    ),
    (#"{"namespace":"w","key":"j","value":"v","pinned":1}"#, "pinned must be true or false"),
    (#"{"namespace":"w","key":"j","value":"v","tags":"a"}"#, "tags must be a list of strings"),
    (#"{"namespace":"w","key":"j","value":"v","tags":["a",1]}"#, "tags[1] must be a string"),
    (
      #"{"namespace":"w","key":"j","value":"v","owners":["o"]}"#,
      "owners[0] must be an object with namespace and key"
    ),
    (
      #"{"namespace":"w","key":"j","value":"v","owners":[{"key":"o"}]}"#,
      "owners[0] has no namespace"
    ),
    (
      #"{"namespace":"w","key":"j","value":"v","codec":256}"#,
      "codec must be the name of a codec or a number from 0 to 255"
    ),
    (
      #"{"namespace":"w","rules":{"largestValue":"x"}}"#,
      "rules.largestValue is not as an export has it"
    ),
  ])
  func `a line is refused by what is wrong with it`(line: String, reason: String) throws {
    let shell = try Shell(.plain)
    for verb in ["import -", "import - --dry-run"] {
      shell.input = export([#"{"namespace":"w","key":"i","value":"v"}"#, line])
      let message = try shell.error(verb).message.description
      #expect(message.split(separator: " ", maxSplits: 1).last.map(String.init) == reason)
    }
    #expect(try shell.store.namespaces().isEmpty)
  }

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
    for (number, rules) in rules.enumerated() {
      try shell.store.declare(rules, for: "n\(number)")
    }
    try shell.store.override(overrides, for: "n0")
    let other = try Shell(.plain)
    other.input = bytes(try shell("export - @*"))
    try other("import -")
    let (old, new) = (try shell.store.namespaces(), try other.store.namespaces())
    #expect(old.map(\.declared) == new.map(\.declared))
    #expect(old.map(\.overrides) == new.map(\.overrides))
    #expect(new.count == 4 && new.first?.overrides == overrides)
  }

  @Test(arguments: ["77", "\"77\"", "2", "\"json\""])
  func `a codec has a name or a number`(codec: String) throws {
    let shell = try Shell(.plain)
    shell.input = export([#"{"namespace":"w","key":"j","value":"{}","codec":\#(codec)}"#])
    try shell("import -")
    let expected: UInt8 = codec.contains("77") ? 77 : 2
    #expect(try shell.store.namespace("w").entry(for: "j")?.codec.rawValue == expected)
  }

  @Test func `overrides without rules are kept`() throws {
    let shell = try Shell(.plain)
    shell.input = export([#"{"namespace":"w","overrides":{"largestValue":7}}"#])
    try shell("import -")
    #expect(try shell.store.namespace("w").info()?.rules.largestValue == 7)
  }

  @Test(arguments: ["import -", "import - --dry-run"])
  func `the hint of an error tells of the rules before it`(verb: String) throws {
    let shell = try Shell(.plain)
    shell.input = export([#"{"namespace":"w","rules":{"largestValue":7}}"#, "?"])
    #expect(
      try shell.error(verb).hint?.description == "before it: the rules of 1 namespace")
    #expect(try shell.store.namespaces().isEmpty == verb.hasSuffix("run"))
  }

  @Test func `an interrupted preview has imported nothing`() throws {
    let shell = try Shell(.plain)
    shell.input = export([#"{"namespace":"w","key":"j","value":"v"}"#])
    shell.stepsUntilInterrupted = 1
    let error = try shell.error("import - --dry-run")
    #expect(error.code == .interrupted && error.hint == nil)
  }

  @Test func `an export as CSV is no file to compare with`() throws {
    let shell = try Shell(.plain)
    try shell("set @a k v", "export \(shell.file) --format csv")
    #expect(try shell.error("diff \(shell.file)").code == .usage)
  }

  @Test(arguments: [
    ("2027-11-21T06:30:00.1Z", 100), ("2027-11-21T06:30:00.12Z", 120),
    ("2027-11-21T06:30:00.123456789Z", 123), ("2027-11-21T06:30:00Z", 0),
  ])
  func `a time may be finer than milliseconds`(text: String, milliseconds: Int64) throws {
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
      try shell.error("import -").message.description
        == "stdin:1:1: the line is longer than 64 kB")
    // Lines after the first may be longer.
    try shell(
      "set @a k \(String(repeating: "v", count: 200_000))", "export \(shell.file) @a --force")
    try shell("evict @a k", "import \(shell.file)")
    #expect(try shell("count @a") == "1 entry, 200 kB\n")
  }
}

/// Compares `import --dry-run` with the import itself.
@Suite struct ImportPreviewTests {
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
    #"{"namespace":"new","rules":{"largestValue":3}}"# + "\n"
      + #"{"namespace":"new","key":"k","value":"long"}"#,
  ]

  @Test(arguments: refused)
  func `a dry run refuses what the import refuses`(line: String) throws {
    let shell = try Shell(.plain)
    try shell.store.declare(
      Rules(limits: Limits(entries: 3), eviction: .refuse, largestValue: 10), for: "a")
    // The import may replace the expired entry.
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
