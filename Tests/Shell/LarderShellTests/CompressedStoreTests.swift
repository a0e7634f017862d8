import Larder
import TestSupport
import Testing

@testable import LarderShell
@testable import ShellLanguage

/// A store with some values that an application compresses. The shell does not know the transform.
@Suite struct CompressedStoreTests {
  /// Simulates compression: if the first and the last byte of a value are equal, only the first tenth is stored.
  private struct Tenth: ValueTransform {
    let id = TransformID.zstd

    func apply(_ bytes: Span<UInt8>, for context: TransformContext) -> (
      bytes: [UInt8], parameters: [UInt8]
    )? {
      guard bytes[0] == bytes[bytes.count - 1] else { return nil }
      return (bytes.indices.prefix(bytes.count / 10).map { bytes[$0] }, [])
    }

    func revert(
      _ bytes: Span<UInt8>, _ parameters: Span<UInt8>, size: Int, for context: TransformContext
    ) -> [UInt8] { [UInt8](repeating: bytes[0], count: size) }
  }

  private func shell(_ mode: OutputMode) throws -> Shell {
    let path = TemporaryDirectory.unusedPath
    let options = with(Store.Options()) { $0.transforms = [Tenth()] }
    let application = try Store(at: path, options: options)
    let (notes, others) = (application.namespace("notes"), application.namespace("others"))
    for number in 1...3 {
      try notes.set(String(repeating: "a", count: 10_000), for: "long/\(number)")
    }
    try notes.set(String(repeating: "a", count: 1_999) + "b", for: "short/1")
    try others.set("plain", for: "k")
    try application.close()
    return try Shell(mode, at: path)
  }

  /// The line about compression below a table. Nil if there is no such line.
  private func remark(_ shell: Shell, _ command: String) throws -> Substring? {
    try shell(command).split(separator: "\n").first { $0.contains("compressed") }
  }

  @Test func `sizes says below the table what compression saves`() throws {
    let shell = try shell(.table)
    for (command, all) in [("sizes", 5), ("sizes @notes", 4), ("sizes @notes --by prefix", 4)] {
      #expect(
        try remark(shell, command)
          == "compressed: 3 of \(all) entries, 3.1 kB in place of 30 kB (10 %)")
    }
    #expect(
      try remark(shell, "sizes @notes long/1 --by key")
        == "compressed: 1 of 1 entry, 1 kB in place of 10 kB (10 %)")
    #expect(try remark(shell, "sizes @others") == nil)
    #expect(try remark(shell, "sizes @notes short/*") == nil)
  }

  @Test func `the rows of sizes hold the stored bytes`() throws {
    let rows = try shell(.plain)("sizes @notes --by prefix").split(separator: "\n")
    // Each of the three compressed values has 33 more stored bytes. These bytes are needed to restore the value.
    #expect(
      rows.map { $0.split(separator: "\t").prefix(3).joined(separator: " ") }
        == ["long/ 3 3099", "short/ 1 2000"])
  }
}

@Suite struct SizesCommandTests {
  /// The expected sums, computed in the simplest way: the function looks at every entry and keeps every sum.
  private func expected(_ keys: [[UInt8]: Int], depth: Int) -> [[UInt8]: Int] {
    var sums: [[UInt8]: Int] = [:]
    for (key, size) in keys {
      let parts = key.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
      let prefix =
        parts.count > depth
        ? parts.prefix(depth).flatMap { Array($0) + [UInt8(ascii: "/")] } : key
      sums[prefix, default: 0] += size
    }
    return sums
  }

  @Test func `sums by prefix are those of the entries, whatever the keys and the order`() throws {
    var random = SeededRNG()
    let shell = try Shell(.jsonl)
    let box = shell.store.namespace("box")
    var keys: [[UInt8]: Int] = [:]
    for _ in 0..<500 {
      let key = (0...6).map { _ in bytes("ab/").randomElement(using: &random)! }
      let size = Int.random(in: 0...50, using: &random)
      try box.set([UInt8](repeating: 1, count: size), for: key)
      keys[key] = size
    }
    for depth in 1...3 {
      for order in ["", "--sort size", "--reverse", "--sort written --limit all"] {
        let lines = try shell("sizes @box --depth \(depth) --top all \(order)").split(
          separator: "\n")
        let sums = expected(keys, depth: depth)
        #expect(lines.count == sums.count, "LARDER_SEED=\(random.seed)")
        for (prefix, bytes) in sums {
          let name = String(decoding: prefix, as: UTF8.self)
          let isThere = lines.contains {
            $0.contains("\"prefix\":\"\(name)\",") && $0.contains("\"bytes\":\(bytes),")
          }
          #expect(isThere, "LARDER_SEED=\(random.seed): \(name)")
        }
      }
    }
    let top = try shell("sizes @box --depth 2 --top 3").split(separator: "\n")
    let sizes = expected(keys, depth: 2).values.sorted(by: >).prefix(3)
    for (line, size) in zip(top, sizes) { #expect(line.contains("\"bytes\":\(size),")) }
  }

  @Test func `it reads no entry where counts say all`() throws {
    let shell = try Shell.filled(.plain)
    shell.stepsUntilInterrupted = 0
    #expect(try shell("sizes") == "articles\t3\t3000\ndepartures\t5\t55\nthumbs\t1\t12\n")
    #expect(try shell("sizes @articles --by namespace") == "articles\t3\t3000\n")
    let error = try shell.error("sizes @articles")
    #expect(error.code == .interrupted)
    #expect(error.message.description == "interrupted: added up 0 entries, 0 B")
  }
}
