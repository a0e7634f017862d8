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
  }

  @Test func `the store has limits of its own`() throws {
    let shell = try Shell(.plain)
    try shell.store.declare(StoreLimits(entries: 1000, disk: 50_000_000))
    try shell("limits --entries none --bytes 10kB --disk 60MB --memory 1MB")
    #expect(
      try shell.store.limits().effective
        == StoreLimits(bytes: 10_000, disk: 60_000_000, memory: 1_000_000))
    #expect(try shell.error("limits @a --guaranteed 30kB").code == .usage)
    #expect(try shell("limits @*") == shell("limits"))
    try shell("limits @* --reset")
    #expect(try shell.store.limits().effective == StoreLimits(entries: 1000, disk: 50_000_000))
  }

  @Test func `a source without an end is read no further than the limit`() throws {
    var reads = 0
    let host = LarderShell.Host(
      write: { _ in },
      read: { _ in
        LarderShell.Host.Input {
          reads += 1
          if reads > 50 { throw ShellError.declined }
          return [UInt8](repeating: 0, count: 100)
        }
      }, make: { _, _ in throw ShellError.declined })
    let shell = try Shell(.plain)
    try shell.store.declare(Rules(largestValue: 1000), for: "small")
    let session = Session(store: shell.store, settings: Settings(), host: host)
    let error = try error { _ = try session.run(command("set @small k --from endless")) }
    #expect(error.code == .overLimit && reads == 11)
  }
}
