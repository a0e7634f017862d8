import Foundation
import Larder
import TestSupport
import Testing

/// Commands that make a store on a full disk. The limit of the process on file sizes stands for the full disk.
@Suite struct FullDiskTests {
  private let home = TemporaryHome()

  /// The exit code of a program that may write files of at most `limit` bytes.
  private func run(_ arguments: String..., limit: Int? = nil) throws -> Int32 {
    try run(arguments, limit: limit)
  }

  private func run(_ arguments: [String], limit: Int? = nil) throws -> Int32 {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    let limiting = limit.map { "ulimit -f \($0 / 512) && " } ?? ""
    process.arguments =
      ["-c", limiting + "exec \"$0\" \"$@\"", ProgramFixture.programs + "/larder"] + arguments
    process.environment = ["HOME": home.path]
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    return process.terminationStatus
  }

  @Test func `a store that may not be written says how to read it`() throws {
    let path = try makeStore()
    let user = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    guard geteuid() == 0, succeeds(["setpriv", "--version"]),
      succeeds(["chmod", "711", home.path]),
      succeeds(["chmod", "-R", "u=rX,go=", path]),
      succeeds(["chown", "-R", "65534:65534", path])
    else {
      print("skipped: needs root and setpriv")
      return
    }
    let process = Process()
    let errors = Pipe()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = user + [ProgramFixture.programs + "/larder", path, "count"]
    process.standardError = errors
    try process.run()
    let text = String(
      decoding: try errors.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    process.waitUntilExit()
    #expect(process.terminationStatus == 3 && text.contains("larder -r"), "\(text)")
  }

  private func succeeds(_ words: [String]) -> Bool {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = words
    process.standardOutput = FileHandle.nullDevice
    do { try process.run() } catch { return false }
    process.waitUntilExit()
    return process.terminationStatus == 0
  }

  private func makeStore() throws -> String {
    try FileManager.default.createDirectory(atPath: home.path, withIntermediateDirectories: true)
    let path = home.path + "/store"
    let store = try Store(at: path)
    try store.write { batch in
      for number in 0..<2000 {
        try batch.set(
          String(repeating: "word ", count: 100), for: number, in: store.namespace("words"))
      }
    }
    try store.close()
    return path
  }

  @Test(arguments: [["demo"], ["salvage"], ["compact", "--to"]])
  func `what makes a store ends with full, leaves nothing and can be repeated`(
    words: [String]
  ) throws {
    let path = try makeStore()
    let new = home.path + "/new"
    func make(limit: Int?) throws -> Int32 {
      switch words[0] {
      case "demo": try run("demo", new, limit: limit)
      case "salvage": try run(path, "salvage", new, limit: limit)
      default: try run(path, "compact", "--to", new, limit: limit)
      }
    }
    #expect(try make(limit: 200_000) == 4)
    #expect(!FileManager.default.fileExists(atPath: new))
    #expect(try make(limit: nil) == 0)
    #expect(try run(new, "verify") == 0)
  }

  @Test
  func `a store on a full disk can be read, and says what is missing where it cannot be opened`()
    throws
  {
    let path = try makeStore()
    #expect(try run(path, "count", limit: 16_384) == 0)
    // The table of readers takes 64 KB of the disk.
    try FileManager.default.removeItem(atPath: path + "/lock.mdb")
    #expect(try run(path, "count", limit: 16_384) == 4)
    #expect(try run("-r", path, "count", limit: 16_384) == 4)
    #expect(try run(path, "count") == 0)
  }

  /// Each command is killed as soon as its unfinished store exists.
  @Test(arguments: ["demo", "salvage"])
  func `what was killed while it made a store can be repeated`(word: String) throws {
    let path = try makeStore()
    let new = home.path + "/new"
    let unfinished = home.path + "/.new.unfinished"
    let words = word == "demo" ? [word, new] : [path, word, new]
    for _ in 0..<3 {
      let process = Process()
      process.executableURL = URL(fileURLWithPath: ProgramFixture.programs + "/larder")
      process.arguments = words
      process.environment = ["HOME": home.path]
      process.standardInput = FileHandle.nullDevice
      process.standardOutput = FileHandle.nullDevice
      try process.run()
      while process.isRunning, !FileManager.default.fileExists(atPath: unfinished) { usleep(200) }
      kill(process.processIdentifier, SIGKILL)
      process.waitUntilExit()
      // The command may have ended before the kill.
      if FileManager.default.fileExists(atPath: new) {
        #expect(try run(new, "verify") == 0)
        try FileManager.default.removeItem(atPath: new)
      }
    }
    #expect(try run(words) == 0)
    #expect(!FileManager.default.fileExists(atPath: unfinished))
    #expect(try run(new, "verify") == 0)
  }
}
