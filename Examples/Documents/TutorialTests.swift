import Foundation
import TestSupport
import Testing

/// The tutorial works as it is written: its program is the one that is compiled, and its sessions are run.
@Suite struct TutorialTests {
  @Test func `the program of the tutorial is the one that is compiled`() throws {
    let page = try Repository.text("Docs/Learn/Tutorial.md")
    let program = try Repository.text("Examples/Tutorial/Weather.swift")
    #expect(page.contains("```swift\n" + program + "```"))
  }

  @Test(.enabled(if: FileServer.canRun, "skipped: python3 is missing"))
  func `the sessions of the tutorial are what the programs answer`() throws {
    let page = try Repository.text("Docs/Learn/Tutorial.md")
    let fixture = try ProgramFixture()
    let service = fixture.home.path + "/service"
    try FileManager.default.createDirectory(atPath: service, withIntermediateDirectories: false)
    for line in page.split(separator: "\n") where line.hasPrefix("    echo ") {
      #expect(try fixture.answer(to: String(line)) == "")
    }
    let server = try FileServer(of: service)
    defer { server.stop() }
    let parts = page.components(separatedBy: "## 6.")
    try #require(parts.count == 2)
    for (part, isDown) in zip(parts, [false, true]) {
      if isDown { server.stop() }
      for step in Transcript(document: part).steps {
        let command = "export SERVICE=http://127.0.0.1:\(server.port); " + step.command
        let answer = try fixture.answer(to: command, asAtTerminal: true)
        #expect(step.accepts(answer), "\(step.command): \(answer)")
      }
    }
  }
}

/// `python3 -m http.server` on a free port.
private final class FileServer {
  static let canRun = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
    .contains { FileManager.default.isExecutableFile(atPath: $0 + "/python3") }

  let port: Int
  private let process = Process()

  init(of folder: String) throws {
    let output = Pipe()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = [
      "python3", "-u", "-m", "http.server", "0", "--bind", "127.0.0.1", "--directory", folder,
    ]
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    try process.run()
    // Serving HTTP on 127.0.0.1 port 40123 (http://127.0.0.1:40123/) ...
    var line = ""
    while !line.contains("\n") {
      let data = output.fileHandleForReading.availableData
      guard !data.isEmpty else { break }
      line += String(decoding: data, as: UTF8.self)
    }
    let words = line.split(separator: " ")
    let index = try #require(words.firstIndex(of: "port"), "no server: \(line)")
    port = try #require(Int(words[index + 1]))
  }

  func stop() {
    guard process.isRunning else { return }
    // The threads of the tests block SIGTERM, and their child processes with them.
    kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }
}
