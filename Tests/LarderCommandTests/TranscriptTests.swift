import Foundation
import Testing

@Suite struct TranscriptTests {
  private static let root = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent()

  static let topics = try! FileManager.default
    .contentsOfDirectory(
      at: root.appendingPathComponent("Transcripts"), includingPropertiesForKeys: nil
    )
    .map { $0.deletingPathExtension().lastPathComponent }.sorted()

  @Test(arguments: ["Operations", "Shell"])
  func `the program answers as the document says`(page: String) throws {
    let url = Self.root.deletingLastPathComponent().appendingPathComponent("Docs/\(page).md")
    _ = try run(Transcript(document: try String(contentsOf: url, encoding: .utf8)))
  }

  private func run(_ transcript: Transcript) throws -> [String] {
    let fixture = try Fixture()
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

  /// With `RECORD` set the answers are written down instead of compared, to be read before they are
  /// believed.
  @Test(arguments: topics)
  func `the program answers as the transcript says`(topic: String) throws {
    let url = Self.root.appendingPathComponent("Transcripts/\(topic).txt")
    let transcript = Transcript(try String(contentsOf: url, encoding: .utf8))
    let answers = try run(transcript)
    if ProcessInfo.processInfo.environment["RECORD"] != nil {
      try transcript.replacing(answers).write(to: url, atomically: true, encoding: .utf8)
    }
  }
}
