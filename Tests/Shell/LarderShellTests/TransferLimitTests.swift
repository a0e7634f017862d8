import Foundation
import Larder
import TestSupport
import Testing

@testable import LarderShell
@testable import ShellLanguage

@Suite struct TransferLimitTests {
  @Test func `a large file without lines is not read to its end`() throws {
    let shell = try Shell()
    let path = TemporaryDirectory.unusedPath
    defer { try? FileManager.default.removeItem(atPath: path) }
    try Data(repeating: UInt8(ascii: "x"), count: 1_000_000).write(to: URL(fileURLWithPath: path))
    for command in ["import", "diff"] {
      let error = try shell.error("\(command) \(path)")
      #expect(error.code == .usage)
      #expect(error.message.description == "\(path):1:1: the line is longer than 64 kB")
      #expect(error.hint?.description == "it does not begin like an export")
    }
    shell.input = bytes(String(repeating: "x", count: 1_000_000))
    #expect(
      try shell.error("import -").message.description
        == "stdin:1:1: the line is longer than 64 kB")
    // Lines after the first may be longer.
    try shell("set @a k \(String(repeating: "v", count: 200_000))", "export \(path) @a --force")
    try shell("evict @a k", "import \(path)")
    #expect(try shell("count @a") == "1 entry, 200 kB\n")
  }
}
