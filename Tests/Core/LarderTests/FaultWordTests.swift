import Foundation
import LarderPeer
import TestSupport
import Testing

@testable import Larder

/// Makes each system call on a file of the store fail, and checks the message in which the library reports the failure.
@Suite(.timeLimit(.minutes(60))) struct FaultWordTests {
  let directory = TemporaryDirectory()
  var path: String { directory.path + "/s" }

  /// Makes a new store for the next fault. Removes the store of the previous fault and the copy of that store.
  private func makeStore() throws {
    try? FileManager.default.removeItem(atPath: path)
    try? FileManager.default.removeItem(atPath: path + ".copy")
    let store = try Store(at: path)
    try store.write { batch in
      for key in 0..<200 {
        try batch.set(
          [UInt8](repeating: 7, count: key * 40), for: key, in: store.namespace("notes"))
      }
    }
    try store.close()
  }

  private func lines(_ operation: String, under prefix: [String]) throws -> [String] {
    try PeerProcess("operate", path, [operation], under: prefix).lines()
  }

  /// Expects that a line either ends with "done" or names the path, and that it has no terms that only developers know.
  private func expectWords(_ line: String, _ fault: String) {
    #expect(!line.contains("MDB_"), "\(fault): \(line)")
    #expect(!line.contains("no remedy"), "\(fault): \(line)")
    #expect(!line.contains("another process holds"), "\(fault): \(line)")
    #expect(line.hasSuffix(" done") || line.contains(path), "\(fault): \(line)")
    // A file that could not be opened or written is not damaged, so the message must not advise a salvage.
    #expect(!line.contains("salvage"), "\(fault): \(line)")
  }

  private static let operations = ["write", "read", "compact", "copy"]
  /// System calls, each with the approximate number of times that an operation makes the call.
  private static let calls = [
    ("openat", 24), ("pread64", 24), ("newfstatat", 24), ("flock", 16), ("mmap", 6),
    ("pwrite64", 4), ("pwritev", 4), ("fdatasync", 4), ("fsync", 3), ("ftruncate", 3),
    ("fallocate", 3), ("rename", 2), ("unlink", 2),
  ]
  private static let errors = ["EIO", "EACCES", "EMFILE", "ENOSPC", "EROFS", "ENOMEM"]

  @Test func `a failed call is reported in words, whichever it is`() throws {
    try makeStore()
    let names = [
      "data.mdb", "data.mdb.new", "lock.mdb", "recovery", "access", "access.new", "lock.open",
      "lock.write", "lock.readers", "lock.checkpoint", "lock.opening", "lock.queue", "lock.maps",
    ]
    let places =
      ["", ".copy", "/../.s.copy.unfinished", "/../.s.copy.unfinished/data.mdb"].map { path + $0 }
      + names.map { path + "/" + $0 }
    let tracer = ["strace", "-f", "-qq", "-o", "/dev/null"] + places.flatMap { ["-P", $0] }
    guard Process.succeeds(tracer + ["true"]) else {
      print("skipped: this system has no strace, or does not allow it")
      return
    }
    var random = SeededRNG(seed: TestSettings.seed)
    var failed = 0
    for _ in 0..<40 * TestSettings.trials {
      try makeStore()
      let operation = Self.operations.randomElement(using: &random)!
      let (call, most) = Self.calls.randomElement(using: &random)!
      let error = Self.errors.randomElement(using: &random)!
      let fault = "\(call):error=\(error):when=\(random.next(in: 1..<most + 1))"
      let lines = try lines(
        operation, under: tracer + ["-e", "trace=\(call)", "-e", "inject=\(fault)"])
      #expect(lines.count == 1, "LARDER_SEED=\(TestSettings.seed) \(operation) \(fault)")
      for line in lines {
        expectWords(line, "LARDER_SEED=\(TestSettings.seed) \(operation) \(fault)")
        if !line.hasSuffix(" done") { failed += 1 }
      }
      let store = try Store(at: path)
      try store.verifyAndClose()
    }
    print("\(failed) failed calls in words (seed \(TestSettings.seed))")
  }

  @Test func `a checkpoint that the disk does not take is the reason of every later error`() throws
  {
    let lines = try lines("checkpoint", under: [])
    #expect(lines.map { $0.split(separator: " ")[0] } == ["break", "sync", "set", "get", "open"])
    for line in lines { #expect(!line.contains("MDB_") && !line.contains("no remedy"), "\(line)") }
    for line in lines[1...3] { #expect(line.contains("failed: \(path)"), "\(line)") }
    for line in lines[2...3] {
      #expect(
        line.contains("the disk did not take what was written since the last checkpoint ("),
        "\(line)")
    }
  }

  @Test func `a compaction with too few descriptors says so`() throws {
    try makeStore()
    var failed = 0
    for limit in 14..<26 {
      for line in try lines(
        "compact", under: ["sh", "-c", "ulimit -n \(limit); exec \"$0\" \"$@\""])
      {
        expectWords(line, "\(limit) descriptors")
        if line.contains("open files") { failed += 1 }
      }
    }
    #expect(failed > 0)
  }
}
