import Foundation
import Testing

/// Each program on a page of the documentation stands in a file beside this one, where a test runs it.
@Suite struct DocumentedTests {
  private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
  private static let documents = folder.deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appendingPathComponent("Docs")

  /// The lines without their indentation, of which pages and tests have different ones.
  private static func lines(_ text: some StringProtocol) -> [String] {
    text.split(separator: "\n", omittingEmptySubsequences: true).map {
      $0.trimmingCharacters(in: .whitespaces)
    }
  }

  private static func blocks(in page: String) -> [[String]] {
    page.components(separatedBy: "```swift\n").dropFirst().compactMap {
      $0.components(separatedBy: "```").first.map { lines($0) }
    }
  }

  @Test(arguments: ["Limits", "Loading"]) func `every program of a page is one that a test runs`(
    _ page: String
  ) throws {
    let text = try String(
      contentsOf: Self.documents.appendingPathComponent(page + ".md"), encoding: .utf8)
    let source = try String(
      contentsOf: Self.folder.appendingPathComponent(page + "Page.swift"), encoding: .utf8)
    let compiled = Self.lines(source)
    let blocks = Self.blocks(in: text)
    #expect(!blocks.isEmpty)
    for block in blocks {
      let starts = compiled.indices.filter { compiled[$0...].starts(with: block) }
      #expect(starts.count == 1, "\(page): \(block.first ?? "")")
    }
  }
}
