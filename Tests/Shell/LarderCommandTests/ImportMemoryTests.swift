#if os(Linux)
  import Foundation
  import TestSupport
  import Testing

  /// The memory of a dry import, which looks for repeated keys.
  @Suite struct ImportMemoryTests {
    private let home = TemporaryDirectory()

    /// The most memory of its own, in bytes, that the program uses for a file of `count` lines.
    private func memory(of count: Int) throws -> Int {
      let file = home.path + "/file.jsonl"
      try home.withStore { _ in }
      let start = String(repeating: "k", count: 170)
      let lines = (0..<count).map {
        #"{"namespace":"a","key":"\#(start) \#(String($0 + 1_000_000))","value":"v"}"#
      }
      let text = (["{\"larder_export\":1}"] + lines).joined(separator: "\n")
      try Data(text.utf8).write(to: URL(fileURLWithPath: file))
      let process = Process()
      process.executableURL = URL(fileURLWithPath: ProgramFixture.programs + "/larder")
      process.arguments = [home.store, "import", file, "--dry-run"]
      process.environment = ["HOME": home.path, "TMPDIR": home.path]
      process.standardOutput = FileHandle.nullDevice
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
      let few = try memory(of: 4000)
      let many = try memory(of: 34_000)
      #expect(many - few < 2_500_000, "\(few) and \(many) bytes")
      #expect(
        try FileManager.default.contentsOfDirectory(atPath: home.path).sorted()
          == ["file.jsonl", "store"], "the temporary store is gone")
    }
  }
#endif
