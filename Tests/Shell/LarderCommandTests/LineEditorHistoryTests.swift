import Foundation
import TestSupport
import Testing

@testable import LarderTerminal

extension LineEditorTests {
  @Suite struct HistoryTests {
    private let up = "\u{1B}[A"
    private let down = "\u{1B}[B"
    private let home = TemporaryDirectory()
    private var file: String { home.path + "/.local/state/larder/history" }

    private func kept() throws -> [String] {
      try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n").map(String.init)
    }

    @Test func `Up and Down walk through the lines, and ^R searches them`() throws {
      let session = try TerminalSession(home: home)
      try session.type("one\rtwo\rthree\rfo").expect(line: "probe> fo")
      try session.type("\u{15}\(up)\(up)").expect(line: "probe> two", column: 10)
      try session.type("\(up)\(up)\(up)").expect(line: "probe> one")
      try session.type("\(down)\(down)").expect(line: "probe> three")
      try session.type(down).expect(line: "probe>", column: 7)
      try session.type("keys departures\rget x\r\u{12}depart").expect(row: "probe> keys departures")
      try session.type("\r")
      session.expect("it ran again") { $0.lines.filter { $0 == "=keys departures" }.count == 2 }
    }

    @Test func `Up recalls what begins as the line does and Down brings the line back`() throws {
      let session = try TerminalSession(home: home)
      try session.type("keys a\rget b\rkeys c\rmy keys\rke").expect(line: "probe> ke")
      try session.type(up).expect(line: "probe> keys c", column: 13)
      try session.type(up).expect(line: "probe> keys a", column: 13)
      try session.type(down + down).expect(line: "probe> ke", column: 9)
      // A walk through the history begins again after an edit of the line, and when the next line begins.
      try session.type("\(up)\u{15}ge\(up)").expect(line: "probe> get b", column: 12)
      try session.type("\u{15}kex\u{1B}[D\(up)").expect(line: "probe> keys c")
      try session.type("\r").expect(answer: "keys c")
      try session.type("keys c\(up)x").expect(line: "probe> keys cx")
    }

    @Test func `a session knows the lines of those before`() throws {
      try TerminalSession(home: home).leave(by: "keys \u{E5}\rset 'a\rb'\r\u{4}")
      let second = try TerminalSession(home: home)
      try second.type(up).expect(["probe> set 'a", "b'"])
      try second.type(up).expect(["probe> keys \u{E5}"])
    }

    @Test func `two sessions at once lose nothing`() throws {
      let sessions = try [TerminalSession(home: home), TerminalSession(home: home)]
      for round in 0..<3 {
        for (index, session) in sessions.enumerated() {
          try session.type("line \(round) of \(index)\r").expect("an answer") {
            $0.lines.suffix(2) == ["=line \(round) of \(index)", "probe>"]
          }
        }
      }
      #expect(try kept() == (0..<3).flatMap { ["line \($0) of 0", "line \($0) of 1"] })
    }

    @Test func `secret and blank lines are not kept and repeated ones once`() throws {
      let session = try TerminalSession(home: home)
      try session.type("one\r secret\r\r   \rtwo\rone\r").expect("all of them") {
        $0.lines.suffix(3) == ["probe> one", "=one", "probe>"] && $0.row > 10
      }
      try session.type(up + up).expect(line: "probe> two")
      try session.type(up).expect(line: "probe> two")
      #expect(try LineEditor.HistoryFile(at: file).load() == ["two", "one"])
      #expect(try permissions(of: file) == 0o600, "nobody else can read it")
    }
  }
}

@Suite struct HistoryFileTests {
  private let home = TemporaryDirectory()
  private var file: LineEditor.HistoryFile { LineEditor.HistoryFile(at: home.path + "/history") }

  @Test func `an entry of any text comes back`() throws {
    var generator = SeededRNG()
    let letters: [Character] = ["\\", "n", "\n", "\\", "a", "\u{E5}", "\u{1F682}", "'", "\r"]
    let entries = (0..<200).map { number in
      "\(number)" + String((0..<8).map { _ in letters.randomElement(using: &generator)! })
    }
    for entry in entries { try file.append(entry) }
    #expect(try file.load() == entries, "LARDER_SEED=\(generator.seed)")
  }

  @Test func `the file is cut back to the newest entries`() throws {
    let limit = LineEditor.HistoryFile.limit
    try home.write((0...(2 * limit)).map { "line \($0)\n" }.joined(), to: "history")
    let newest = ((limit + 1)...(2 * limit)).map { "line \($0)" }
    // The shortened history is written to a new file, so a kill during the write leaves the former file whole.
    let before = try #require(FileHandle(forReadingAtPath: file.path))
    let link = LineEditor.HistoryFile(at: home.path + "/link")
    try FileManager.default.createSymbolicLink(atPath: link.path, withDestinationPath: "history")
    #expect(try link.load() == newest)
    #expect(try before.readToEnd()?.split(separator: UInt8(ascii: "\n")).count == 2 * limit + 1)
    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link.path) == "history")
    #expect(try FileManager.default.contentsOfDirectory(atPath: home.path).count == 2)
    #expect(try permissions(of: file.path) == 0o600)
    let text = try String(contentsOfFile: file.path, encoding: .utf8)
    #expect(text == newest.map { $0 + "\n" }.joined())
  }

  @Test(.timeLimit(.minutes(20)))
  func `a directory, a pipe or a device in its place is an error that names it`() throws {
    try home.write("", to: "history/inner")
    let failure = #expect(throws: TerminalError.self) { try file.load() }
    #expect(failure?.description == "\(file.path): Is a directory")
    try FileManager.default.removeItem(atPath: file.path)
    let mode = try permissions(of: "/dev/null")
    try home.write("", to: "other")
    let error = "\(file.path): not a regular file"
    #expect(unsafe mkfifo(file.path, 0o600) == 0)
    #expect(#expect(throws: TerminalError.self) { try file.load() }?.description == error)
    #expect(throws: TerminalError.notRegularFile(file.path)) { try file.append("x") }
    try FileManager.default.removeItem(atPath: file.path)
    try FileManager.default.createSymbolicLink(atPath: file.path, withDestinationPath: "/dev/null")
    #expect(#expect(throws: TerminalError.self) { try file.load() }?.description == error)
    #expect(try permissions(of: "/dev/null") == mode)
  }

  @Test(.timeLimit(.minutes(20))) func `a lock that is never released is not waited for`() throws {
    try home.write("one\n", to: "history")
    let holder = unsafe open(file.path, O_RDONLY)
    defer { close(holder) }
    try #require(flock(holder, LOCK_EX) == 0)
    #expect(throws: TerminalError.failed(operation: file.path, code: EWOULDBLOCK)) {
      try file.load()
    }
    try #require(flock(holder, LOCK_UN) == 0)
    #expect(try file.load() == ["one"])
  }

  @Test func `the state directory decides where it is`() {
    func path(_ environment: [String: String]) -> String? {
      LineEditor.HistoryFile.standard(environment: environment)?.path
    }
    #expect(path(["HOME": "/h"]) == "/h/.local/state/larder/history")
    #expect(path(["HOME": "/h", "XDG_STATE_HOME": "/s"]) == "/s/larder/history")
    #expect(path(["HOME": "/h", "XDG_STATE_HOME": "s"]) == "/h/.local/state/larder/history")
    #expect(path([:]) == nil)
  }
}
