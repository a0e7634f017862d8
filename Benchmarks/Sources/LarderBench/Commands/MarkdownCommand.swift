import ArgumentParser
import Foundation

/// Shows runs from their JSON files.
struct MarkdownCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "markdown", abstract: "Prints runs that were written with --json as tables.")

  @Argument var files: [String]

  func run() throws {
    for file in files {
      let bytes = try Data(contentsOf: URL(fileURLWithPath: file))
      let document = try JSONDecoder().decode(Document.self, from: bytes)
      say(Matrix(document).markdown())
      say(Goals(document).markdown())
    }
  }
}
