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

  /// With `RECORD` set the answers are written down instead of compared, to be read before they are
  /// believed.
  @Test(arguments: topics)
  func `the program answers as the transcript says`(topic: String) throws {
    let url = Self.root.appendingPathComponent("Transcripts/\(topic).txt")
    let transcript = Transcript(try String(contentsOf: url, encoding: .utf8))
    let workplace = try Workplace()
    var answers: [String] = []
    for step in transcript.steps {
      let answer = try workplace.answer(to: step.command)
      answers.append(answer)
      if ProcessInfo.processInfo.environment["RECORD"] == nil {
        #expect(answer == step.answer, "\(topic): \(step.command)")
      }
    }
    #expect(!answers.isEmpty)
    if ProcessInfo.processInfo.environment["RECORD"] != nil {
      try transcript.replacing(answers).write(to: url, atomically: true, encoding: .utf8)
    }
  }
}
