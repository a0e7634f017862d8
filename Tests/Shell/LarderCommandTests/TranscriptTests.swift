import Foundation
import TestSupport
import Testing

@Suite struct TranscriptTests {
  private static let folder = Repository.root.appending(path: "Tests/Shell/Transcripts")

  static let topics = try! FileManager.default
    .contentsOfDirectory(
      at: folder, includingPropertiesForKeys: nil
    )
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

  /// With `RECORD` set, the test writes the answers down and does not compare them. Read the answers before you
  /// commit them.
  @Test(arguments: topics)
  func `the program answers as the transcript says`(topic: String) throws {
    let url = Self.folder.appending(path: "\(topic).txt")
    let transcript = Transcript(try String(contentsOf: url, encoding: .utf8))
    let answers = try run(transcript)
    if ProcessInfo.processInfo.environment["RECORD"] != nil {
      try transcript.replacing(answers).write(to: url, atomically: true, encoding: .utf8)
    }
  }
}
