import Foundation
import TestSupport
import Testing

/// Each program on a page of the documentation stands in a file beside this one, in a test that runs it; those that need packages of
/// others stand in `Traits/TraitPages.swift` and `Server/Tests/ServerTests/ServerPages.swift`.
@Suite struct DocumentedTests {
  private static let pages = [
    "Use/Codecs", "Learn/Cookbook", "Use/HTTP", "Use/Limits", "Use/Loading", "Learn/Migrating",
    "Operate/Monitoring",
  ]
  private static let articles = [
    "Core/Larder/Larder.docc/Larder", "Core/Larder/Larder.docc/GettingStarted",
    "Core/Larder/Larder.docc/Testing",
    "HTTP/LarderHTTP/LarderHTTP.docc/LarderHTTP",
    "Testing/LarderTesting/LarderTesting.docc/LarderTesting",
    "Testing/LarderHTTPTesting/LarderHTTPTesting.docc/LarderHTTPTesting",
    "Shared/LarderShared/LarderShared.docc/LarderShared",
    "Testing/LarderSharedTesting/LarderSharedTesting.docc/LarderSharedTesting",
    "HTTP/LarderURLSession/LarderURLSession.docc/LarderURLSession",
    "Extras/LarderCodecs/LarderCodecs.docc/LarderCodecs",
    "Extras/LarderCompression/LarderCompression.docc/LarderCompression",
    "Extras/LarderEncryption/LarderEncryption.docc/LarderEncryption",
    "Extras/LarderMonitoring/LarderMonitoring.docc/LarderMonitoring",
  ]
  /// Pages whose programs are in the tests of the shell, of the shared tier and of the examples.
  private static let others = [
    "README.md", "Docs/Learn/Tutorial.md", "Docs/Use/Fleet.md", "Examples/README.md",
    "Examples/Articles/README.md", "Examples/Catalog/README.md",
    "Examples/Departures/README.md", "Examples/Lego/README.md",
  ]

  /// The lines without their indentation: pages and tests have different ones.
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

  private static let all =
    pages.map { "Docs/\($0).md" } + articles.map { "Sources/\($0).md" }

  @Test(arguments: all) func `a test runs every program of a page`(_ page: String) throws {
    let folder = Repository.root.appendingPathComponent("Examples")
    let files =
      try FileManager.default.contentsOfDirectory(
        atPath: folder.appendingPathComponent("Documents").path
      ).filter { $0.hasSuffix("Page.swift") }.map { "Documents/" + $0 } + [
        "Traits/TraitPages.swift", "Server/Tests/ServerTests/ServerPages.swift",
      ]
    let compiled = try files.flatMap { Self.lines(try Repository.text("Examples/" + $0)) }
    let blocks = Self.blocks(in: try Repository.text(page))
    #expect(!blocks.isEmpty)
    for block in blocks {
      let starts = compiled.indices.filter { compiled[$0...].starts(with: block) }
      #expect(!starts.isEmpty, "\(page): \(block.first ?? "")")
    }
  }

  @Test func `no page with a program is left out`() throws {
    let known = Self.all + Self.others
    let pages = try (Documents.pages() + Documents.articles()).filter {
      try Repository.text($0).contains("```swift\n")
    }
    #expect(pages.sorted() == known.sorted())
  }

  @Test func `the steps of the tutorial lead to the program that is compiled`() throws {
    let program = Self.lines(try Repository.text("Examples/Tutorial/Weather.swift"))
    let steps = try (1...3).map { step in
      Self.lines(
        try Repository.text("Sources/Core/Larder/Larder.docc/Resources/weather-\(step).swift"))
    }
    #expect(steps.last == program)
    for step in steps {
      var rest = program[...]
      for line in step {
        let index = try #require(rest.firstIndex(of: line), "\(line)")
        rest = rest[(index + 1)...]
      }
    }
  }
}
