import Larder
import TestSupport
import Testing

@testable import LarderShell
@testable import ShellLanguage

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
      for order in ["", "--sort size", "--reverse", "--sort written"] {
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
