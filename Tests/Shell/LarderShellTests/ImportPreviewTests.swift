import Foundation
import Larder
import TestSupport
import Testing

@testable import LarderShell
@testable import ShellLanguage

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
