import Foundation
import TestSupport
import Testing

/// Runs the program as the files of `Tests/Shell/Transcripts` and some documents say. Each file has a directory of its own. The
/// transcripts of a command are in the file with the name of the command, or in a file about one subject of several commands.
@Suite struct TranscriptTests {
  private static let folder = Repository.root.appending(path: "Tests/Shell/Transcripts")
  static let topics = try! FileManager.default
    .contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
    .map { $0.deletingPathExtension().lastPathComponent }.sorted()

  @Test(arguments: ["Use/Shell", "Learn/Migrating"])
  func `the program answers a script as the document says`(page: String) throws {
    _ = try run(try Self.document(page))
  }

  @Test func `the program answers at a terminal as the document says`() throws {
    let fixture = ProgramFixture()
    for step in try Self.document("Operate/Operations").steps {
      let answer = try fixture.answer(to: step.command, asAtTerminal: true)
      #expect(step.accepts(answer), "\(step.command): \(answer)")
    }
  }

  private static func document(_ page: String) throws -> Transcript {
    Transcript(document: try Repository.text("Docs/\(page).md"))
  }

  private func run(_ transcript: Transcript) throws -> [String] {
    let fixture = ProgramFixture()
    let answers = try transcript.steps.map { step in
      let answer = try fixture.answer(to: step.command)
      if ProcessInfo.processInfo.environment["RECORD"] == nil {
        #expect(answer == step.answer, "\(step.command)")
      }
      return answer
    }
    #expect(!answers.isEmpty)
    return answers
  }

  /// With `RECORD` set, the test writes the answers to the file and compares nothing. Read the file before you commit it.
  @Test(arguments: topics) func `the program answers as the transcript says`(topic: String) throws {
    let url = Self.folder.appending(path: "\(topic).txt")
    let transcript = Transcript(try String(contentsOf: url, encoding: .utf8))
    let answers = try run(transcript)
    if ProcessInfo.processInfo.environment["RECORD"] != nil {
      try transcript.replacing(answers).write(to: url, atomically: true, encoding: .utf8)
    }
  }
}

/// The HTTP cache writes stored responses, and separate code of the shell reads them, so both must use the same format.
@Suite struct StoredResponseTests {
  private static let isBuilt = FileManager.default.isExecutableFile(
    atPath: ProgramFixture.programs + "/LarderPeer")

  @Test(.enabled(if: isBuilt, "LarderPeer is not built"))
  func `a response is shown with its status and fields, and a pipe gets its body`() throws {
    let fixture = ProgramFixture()
    let expected = "open\n1 peer\nclosed\n"
    #expect(try fixture.answer(to: "printf 'GET /a\\n' | LarderPeer http store") == expected)
    let shown = try fixture.answer(
      to: "larder store -o table -e 'get https://example.com/a'"
    ).split(separator: "\n", omittingEmptySubsequences: false)
    #expect(shown.first?.hasPrefix("4 B  written ") == true)
    #expect(
      shown.dropFirst().filter { !$0.hasPrefix("Date: ") } == [
        "HTTP 200 OK", "Cache-Control: max-age=1000", "ETag: \"peer\"", "\\n", "peer", "",
      ])
    #expect(try fixture.answer(to: "larder store -e 'get https://example.com/a'") == "peer\n")
  }

  @Test(.enabled(if: isBuilt, "LarderPeer is not built"))
  func `a body in entries of its own is put together`() throws {
    let fixture = ProgramFixture()
    let command = "printf 'GET /long\\n' | LarderPeer http store | sed -n 's/^1 //p' > body"
    #expect(try fixture.answer(to: "\(command); wc -c < body") == "200001\n")
    let get = "larder store get @http -- https://example.com/long"
    #expect(try fixture.answer(to: "\(get) | cmp -n 200000 - body && \(get) | wc -c") == "200000\n")
    #expect(
      try fixture.answer(to: "larder store -q evict @http 'body * 0' --yes; \(get)")
        .hasPrefix(
          "! error: command:1:1: the body of \"https://example.com/long\" is incomplete: no entry"))
  }
}
