import Foundation
import Larder
import TestSupport
import Testing

@testable import LarderShell
@testable import ShellLanguage

@Suite struct LimitsCommandTests {
  @Test func `a new store says its default disk limit, and where it comes from`() throws {
    let path = TemporaryDirectory.unusedPath
    let shell = try Shell(at: path)
    defer { try? FileManager.default.removeItem(atPath: path) }
    let limit = try #require(try shell.store.limits().defaultDisk)
    let words = "\(Wording.size(limit)) (default: a tenth of the free disk, up to 10 GB)"
    #expect(try shell.session.summary().hasSuffix(", a file of at most \(words)"))
    #expect(try shell("stats").contains("file of \(words)\n"))
    #expect(try shell("limits").contains("disk: the default, a tenth of the disk"))
    try shell("limits --disk 50MB")
    #expect(try shell.session.summary().hasSuffix(", a file of at most 50 MB"))
    #expect(try shell("stats").contains("file of 50 MB\n"))
    #expect(try !shell("limits").contains("default"))
    try shell.store.close()
  }

  @Test func `a limit of the data file counts what its reserve takes`() throws {
    let shell = try Shell(.plain)
    let notes = shell.store.namespace("notes")
    for batch in 0..<10 {
      try shell.store.write { changes in
        for key in 0..<60 {
          try changes.set([UInt8](repeating: 1, count: 10_000), for: "\(batch)/\(key)", in: notes)
        }
      }
    }
    // The file has 7 MB. The reserve takes a part of the limit, so `--disk 8MB` evicts entries, and `--disk 12MB` does not.
    #expect(try shell("limits --disk 12MB --dry-run") == "would evict\t@*\t0\t0\n")
    #expect(try shell.error("limits --disk 8MB").code == .needsYes)
    #expect(try notes.count() == 600)
    let preview = try shell("limits --disk 8MB --dry-run").split(separator: "\t")
    let bytes = try #require(Int(preview[3].dropLast()))
    try shell("limits --disk 8MB --yes")
    let gone = try 600 - notes.count()
    #expect(bytes > 0 && gone * 10_000 >= bytes / 2)
    // `--reset` restores the limit that code has declared. This limit removes many entries, so `--yes` is needed.
    try shell.store.declare(StoreLimits(disk: 5_000_000))
    try shell("limits --disk none")
    for key in 0..<300 { try notes.set([UInt8](repeating: 1, count: 10_000), for: "new \(key)") }
    #expect(try shell.error("limits --reset").code == .needsYes)
    try shell("limits --reset --yes")
    #expect(try shell.store.limits().declared == StoreLimits(disk: 5_000_000))
    #expect(try shell.store.limits().overrides == StoreLimits())
    // The free pages of the file, which stays large, are not in use.
    try shell.store.clear()
    try shell.store.purge()
    let fields = try shell("limits").split { $0 == "\t" || $0 == "\n" }
    let place = try #require(fields.firstIndex(of: "disk"))
    #expect(Int(fields[place + 1]) ?? .max < 2_000_000)
  }

  @Test func `a full store is not a limit of a namespace that refuses`() throws {
    let shell = try Shell(.plain)
    try shell.store.declare(Rules(eviction: .refuse), for: "a")
    try shell.store.declare(StoreLimits(entries: 1))
    try shell("set @a k v")
    #expect(try shell.error("set @a l v").code == .full)
  }

  @Test func `the store has limits of its own`() throws {
    let shell = try Shell(.plain)
    try shell.store.declare(StoreLimits(entries: 1000, disk: 50_000_000))
    try shell("limits --entries none --bytes 10kB --disk 60MB --memory 1MB")
    let expected = StoreLimits(bytes: 10_000, disk: 60_000_000, memory: 1_000_000)
    #expect(try shell.store.limits().effective == expected)
    #expect(try shell.error("limits @a --guaranteed 30kB").code == .usage)
    #expect(try shell("limits @*") == shell("limits"))
    try shell("limits @* --reset")
    #expect(try shell.store.limits().effective == StoreLimits(entries: 1000, disk: 50_000_000))
  }

  @Test func `a source without an end is read no further than the limit`() throws {
    var reads = 0
    let shell = try Shell(.plain)
    try shell.store.declare(Rules(largestValue: 1000), for: "small")
    let host = LarderShell.Host(
      write: { _ in },
      read: { _ in
        LarderShell.Host.Input {
          reads += 1
          // A limit that rises during the read must not admit the beginning of the value.
          if reads == 5 { try shell.store.declare(Rules(largestValue: 5000), for: "small") }
          if reads > 50 { throw ShellError.declined }
          return [UInt8](repeating: 0, count: 100)
        }
      }, make: { _, _ in throw ShellError.declined })
    let session = Session(store: shell.store, settings: Settings(), host: host)
    let error = try error { _ = try session.run(command("set @small k --from endless")) }
    #expect(error.code == .overLimit && reads == 11)
  }
}

@Suite struct SizesCommandTests {
  /// The expected sums, computed in the simplest way: the function looks at every entry and keeps every sum.
  private func expected(_ keys: [[UInt8]: Int], depth: Int) -> [[UInt8]: Int] {
    var sums: [[UInt8]: Int] = [:]
    for (key, size) in keys {
      let parts = key.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
      let prefix =
        parts.count > depth ? parts.prefix(depth).flatMap { Array($0) + [UInt8(ascii: "/")] } : key
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
      // The store orders long keys by their first bytes and a hash.
      let head = String(repeating: "a", count: Bool.random(using: &random) ? 245 : 0)
      let key = bytes(head) + (0...6).map { _ in bytes("ab/").randomElement(using: &random)! }
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
