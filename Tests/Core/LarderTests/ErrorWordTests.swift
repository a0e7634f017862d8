import Foundation
import TestSupport
import Testing

@testable import Larder

@Suite struct ErrorWordTests {
  let directory = TemporaryDirectory()
  var path: String { directory.path + "/s" }
  init() throws { try Store.leave(at: path) }

  private var hasty: Store.Options {
    with(Store.Options(lockTimeout: .milliseconds(100), checkpointInterval: .seconds(3600))) {
      // Without a write buffer each write takes the locks, so a lock of another process makes the write fail.
      $0.writeBuffer = 0
    }
  }

  private func words(_ body: () throws -> Void) -> String {
    guard let error = thrown(body) else { return "no error" }
    return "\(error.code.rawValue): \(error.message) | \(error.hint ?? "no remedy")"
  }

  /// Another process holds a lock file while `body` runs. The error must name the file and the process, and have a remedy.
  private func expectWords(
    holding lock: String, _ body: () throws -> Void,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let holder = try PeerProcess("lock", path, [lock], saying: "locked")
    let words = words(body)
    #expect(words.hasPrefix("busy: \(path)"), sourceLocation: sourceLocation)
    #expect(words.contains(lock), "\(words)", sourceLocation: sourceLocation)
    let process = "process \(holder.identifier) (LarderPeer)"
    #expect(words.contains(process), "\(words)", sourceLocation: sourceLocation)
    #expect(!words.hasSuffix("no remedy"), sourceLocation: sourceLocation)
  }

  @Test func `each held lock is named, with its holder`() throws {
    try expectWords(holding: "lock.opening") { try Store(at: path, options: hasty).close() }
    try expectWords(holding: "lock.opening") { _ = try Store.compact(at: path, options: hasty) }
    try expectWords(holding: "lock.write") { try Store(at: path, options: hasty).close() }
    try expectWords(holding: "lock.readers") { try Store(at: path, options: hasty).close() }
    let store = try Store(at: path, options: hasty)
    try store.namespace("notes").set("v", for: "k")
    try expectWords(holding: "lock.write") { try store.namespace("notes").set("w", for: "k") }
    try expectWords(holding: "lock.write") { try store.sync() }
    try expectWords(holding: "lock.readers") { try store.sync() }
    try expectWords(holding: "lock.checkpoint") { try store.sync() }
    try store.sync()
    try store.close()
    for lock in ["lock.opening", "lock.write"] {
      try expectWords(holding: lock) {
        _ = try Store.salvage(from: path, to: path + ".new", options: hasty)
      }
    }
  }

  private func endOfChanges(_ store: Store) async -> String {
    for await change in store.changes() {
      if let error = change.ending { return "\(error.message) | \(error.hint ?? "no remedy")" }
    }
    return "no error"
  }

  @Test func `a directory in the place of the file of changes is named`() async throws {
    try makePrivateDirectory(path + "/changes")
    let store = try Store(at: path)
    let words = await endOfChanges(store)
    #expect(words.contains("\(path)/changes"))
    #expect(words.contains("directory"), "\(words)")
    #expect(!words.contains("room"))
    try store.close()
  }

  @Test func `a held lock of the file of changes is named`() async throws {
    let holder = try PeerProcess("lock", path, ["lock.maps"], saying: "locked")
    let store = try Store(at: path)
    let words = await endOfChanges(store)
    #expect(words.contains("lock.maps"), "\(words)")
    #expect(words.contains("process \(holder.identifier) (LarderPeer)"), "\(words)")
    try store.close()
  }

  @Test func `what a killed creation left is no directory of other files`() throws {
    let place = directory.path + "/half"
    try makePrivateDirectory(place)
    for name in ["lock.open", "lock.opening", "data.mdb.new"] {
      try makePrivateFile(place + "/" + name)
    }
    let words = words { try Store(at: place, options: Store.Options(create: false)).close() }
    #expect(words.hasPrefix("notFound: there is no store at \(place)"))
    #expect(words.contains("killed"), "\(words)")
    try Store(at: place).close()
  }
}

/// Makes each system call on a file of the store fail, and checks the message in which the library reports the failure.
@Suite(.timeLimit(.minutes(60))) struct FaultWordTests {
  let directory = TemporaryDirectory()
  var path: String { directory.path + "/s" }

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

  /// Expects that a line ends with "done" or names the path, and that the line has no terms that only developers know.
  private func expectWords(_ line: String, _ fault: String) {
    #expect(!line.contains("MDB_"), "\(fault): \(line)")
    #expect(!line.contains("no remedy"), "\(fault): \(line)")
    #expect(!line.contains("another process holds"), "\(fault): \(line)")
    #expect(line.hasSuffix(" done") || line.contains(path), "\(fault): \(line)")
    // A file that could not be opened or written is not damaged, so the message must not advise a salvage.
    #expect(!line.contains("salvage"), "\(fault): \(line)")
  }

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
    for _ in 0..<40 * TestSettings.trials {
      try makeStore()
      let operation = ["write", "read", "compact", "copy"].randomElement(using: &random)!
      let (call, most) = Self.calls.randomElement(using: &random)!
      let error = Self.errors.randomElement(using: &random)!
      let fault = "\(call):error=\(error):when=\(random.next(in: 1..<most + 1))"
      let lines = try lines(
        operation, under: tracer + ["-e", "trace=\(call)", "-e", "inject=\(fault)"])
      #expect(lines.count == 1, "LARDER_SEED=\(TestSettings.seed) \(operation) \(fault)")
      for line in lines {
        expectWords(line, "LARDER_SEED=\(TestSettings.seed) \(operation) \(fault)")
      }
      try Store(at: path).verifyAndClose()
    }
  }

  @Test func `a checkpoint that the disk refuses is the reason of every later error`() throws {
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
      for line in try lines("compact", under: inShell("ulimit -n \(limit)")) {
        expectWords(line, "\(limit) descriptors")
        if line.contains("open files") { failed += 1 }
      }
    }
    #expect(failed > 0)
  }
}
