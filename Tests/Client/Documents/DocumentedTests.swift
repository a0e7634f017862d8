import Foundation
import Testing

/// Each program on a page of the documentation stands in a file beside this one, `PAGEPage.swift`, in a test that runs it.
@Suite struct DocumentedTests {
  private static let pages = [
    "Codecs", "Cookbook", "HTTP", "Limits", "Loading", "Migrating", "Monitoring",
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

  @Test(arguments: pages) func `a test runs every program of a page`(_ page: String) throws {
    try expectRun("Docs/\(page).md", in: "\(page)Page.swift")
  }

  @Test(arguments: [
    "Larder/Larder.docc/Larder", "Larder/Larder.docc/GettingStarted", "Larder/Larder.docc/Testing",
    "LarderHTTP/LarderHTTP.docc/LarderHTTP", "LarderTesting/LarderTesting.docc/LarderTesting",
    "LarderHTTPTesting/LarderHTTPTesting.docc/LarderHTTPTesting",
    "LarderShared/LarderShared.docc/LarderShared",
    "LarderSharedTesting/LarderSharedTesting.docc/LarderSharedTesting",
  ]) func `a test runs every program of an article`(_ article: String) throws {
    try expectRun("Sources/\(article).md", in: "CataloguePage.swift")
  }

  @Test func `a test runs the program of the article on monitoring`() throws {
    try expectRun(
      "Sources/LarderMonitoring/LarderMonitoring.docc/LarderMonitoring.md",
      in: "MonitoringPage.swift")
  }

  @Test func `the steps of the tutorial lead to the program that is compiled`() throws {
    let program = Self.lines(try Documents.text("Examples/Tutorial/Weather.swift"))
    let steps = try (1...3).map { step in
      Self.lines(
        try Documents.text("Sources/Larder/Larder.docc/Resources/weather-\(step).swift"))
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

  private func expectRun(_ page: String, in file: String) throws {
    let compiled = Self.lines(try Documents.text("Tests/Client/Documents/\(file)"))
    let blocks = Self.blocks(in: try Documents.text(page))
    #expect(!blocks.isEmpty)
    for block in blocks {
      let starts = compiled.indices.filter { compiled[$0...].starts(with: block) }
      #expect(!starts.isEmpty, "\(page): \(block.first ?? "")")
    }
  }
}
