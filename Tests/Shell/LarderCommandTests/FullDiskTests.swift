import Foundation
import Larder
import TestSupport
import Testing

/// Tests of commands that make a store on a full disk. A limit on the size of files simulates the full disk.
@Suite struct FullDiskTests {
  private let home = TemporaryDirectory()

  /// The exit code of the program, which may write files of at most `limit` bytes.
  private func run(_ arguments: [String], limit: Int? = nil) throws -> Int32 {
    let limiting = limit.map { "ulimit -f \($0 / 512) && " } ?? ""
    return try Process.output(
      of: ["/bin/sh", "-c", limiting + "exec \"$0\" \"$@\"", Self.larder] + arguments,
      environment: ["HOME": home.path]
    ).status
  }

  private static let larder = ProgramFixture.programs + "/larder"

  @Test func `a store that may not be written says how to read it`() throws {
    let path = try makeStore()
    let user = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    guard geteuid() == 0, Process.succeeds(["setpriv", "--version"]),
      Process.succeeds(["chmod", "711", home.path]),
      Process.succeeds(["chmod", "-R", "u=rX,go=", path]),
      Process.succeeds(["chown", "-R", "65534:65534", path])
    else {
      print("skipped: needs root and setpriv")
      return
    }
    let (status, text) = try Process.output(
      of: user + ["/bin/sh", "-c", "exec \"$0\" \"$@\" 2>&1", Self.larder, path, "count"])
    #expect(status == 3 && text.contains("larder -r"), "\(text)")
  }

  private func makeStore() throws -> String {
    try home.withStore { store in
      try store.write { batch in
        for number in 0..<2000 {
          try batch.set(
            String(repeating: "word ", count: 100), for: number, in: store.namespace("words"))
        }
      }
    }
    return home.store
  }

  @Test(arguments: [["demo"], ["salvage"], ["compact", "--to"]])
  func `what makes a store ends with full, leaves nothing and can be repeated`(
    words: [String]
  ) throws {
    let path = try makeStore()
    let new = home.path + "/new"
    let making = words == ["demo"] ? words + [new] : [path] + words + [new]
    #expect(try run(making, limit: 200_000) == 4)
    #expect(!FileManager.default.fileExists(atPath: new))
    #expect(try run(making) == 0)
    #expect(try run([new, "verify"]) == 0)
  }

  @Test
  func `a store on a full disk can be read, and says what is missing where it cannot be opened`()
    throws
  {
    let path = try makeStore()
    #expect(try run([path, "count"], limit: 16_384) == 0)
    // The table of readers in a new `lock.mdb` needs 64 KB. This is more than the limit, so the opening fails.
    try FileManager.default.removeItem(atPath: path + "/lock.mdb")
    #expect(try run([path, "count"], limit: 16_384) == 4)
    #expect(try run(["-r", path, "count"], limit: 16_384) == 4)
    #expect(try run([path, "count"]) == 0)
  }

  /// Each command is killed as soon as its unfinished store exists.
  @Test(arguments: ["demo", "salvage"])
  func `what was killed while it made a store can be repeated`(word: String) throws {
    let path = try makeStore()
    let (new, unfinished) = (home.path + "/new", home.path + "/.new.unfinished")
    let words = word == "demo" ? [word, new] : [path, word, new]
    for _ in 0..<3 {
      let process = Process.silent([Self.larder] + words)
      process.environment = ["HOME": home.path]
      try process.run()
      while process.isRunning, !FileManager.default.fileExists(atPath: unfinished) { usleep(200) }
      kill(process.processIdentifier, SIGKILL)
      process.waitUntilExit()
      // If the command has ended before the kill, the store is complete.
      if FileManager.default.fileExists(atPath: new) {
        #expect(try run([new, "verify"]) == 0)
        try FileManager.default.removeItem(atPath: new)
      }
    }
    #expect(try run(words) == 0)
    #expect(!FileManager.default.fileExists(atPath: unfinished))
    #expect(try run([new, "verify"]) == 0)
  }
}

#if os(Linux)
  @Suite struct ImportMemoryTests {
    private let home = TemporaryDirectory()

    /// The most memory in bytes that the program uses for a file of `count` lines.
    private func memory(of count: Int) throws -> Int {
      let file = home.path + "/file.jsonl"
      try home.withStore { _ in }
      let start = String(repeating: "k", count: 170)
      let lines = (0..<count).map {
        #"{"namespace":"a","key":"\#(start) \#(String($0 + 1_000_000))","value":"v"}"#
      }
      let text = (["{\"larder_export\":1}"] + lines).joined(separator: "\n")
      try Data(text.utf8).write(to: URL(fileURLWithPath: file))
      let process = Process.silent([
        ProgramFixture.programs + "/larder", home.store, "import", file, "--dry-run",
      ])
      process.environment = ["HOME": home.path, "TMPDIR": home.path]
      try process.run()
      var most = 0
      while process.isRunning {
        let status = try? String(
          contentsOfFile: "/proc/\(process.processIdentifier)/status", encoding: .utf8)
        let line = status?.split(separator: "\n").first { $0.hasPrefix("RssAnon:") }
        most = max(
          most, line?.split(whereSeparator: { !$0.isNumber }).last.flatMap { Int($0) } ?? 0)
        usleep(500)
      }
      process.waitUntilExit()
      #expect(process.terminationStatus == 0 && most > 0)
      return most * 1024
    }

    @Test func `a dry import keeps no keys in memory`() throws {
      let (few, many) = (try memory(of: 4000), try memory(of: 34_000))
      #expect(many - few < 2_500_000, "\(few) and \(many) bytes")
      let found = try FileManager.default.contentsOfDirectory(atPath: home.path).sorted()
      #expect(found == ["file.jsonl", "store"], "the temporary store is gone")
    }
  }
#endif
