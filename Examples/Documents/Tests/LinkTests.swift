import Foundation
import TestSupport
import Testing

/// Every link to a file of the package has an existing file as its target, and an existing heading.
@Suite struct LinkTests {
  /// The page without its code.
  private static func prose(of page: String) -> String {
    page.replacing(/(?ms)^```.*?^```/, with: "")
      .split(separator: "\n").filter { !$0.hasPrefix("    ") }.joined(separator: "\n")
  }

  /// The paths of the pages outside `Sources` and `Tests`.
  private static func pages() throws -> [String] {
    let (files, root) = (FileManager.default, Repository.root.path + "/")
    let docs = try files.subpathsOfDirectory(atPath: root + "Docs").map { "Docs/" + $0 }
    let examples = try files.contentsOfDirectory(atPath: root + "Examples")
      .map { "Examples/\($0)/README.md" }
    let all = try files.contentsOfDirectory(atPath: root) + ["Examples/README.md"]
    return (all + docs + examples).filter {
      $0.hasSuffix(".md") && files.fileExists(atPath: root + $0)
    }
  }

  /// The anchors that a Markdown viewer makes for headings.
  private static func anchors(in page: String) -> Set<String> {
    Set(
      prose(of: page).split(separator: "\n").filter { $0.hasPrefix("#") }.map { heading in
        heading.drop { $0 == "#" || $0 == " " }.lowercased()
          .filter { $0.isLetter || $0.isNumber || $0 == " " || $0 == "-" || $0 == "_" }
          .replacingOccurrences(of: " ", with: "-")
      })
  }

  @Test func `every link of the documents leads somewhere`() throws {
    var count = 0
    for page in try Self.pages() {
      let prose = Self.prose(of: try Repository.text(page))
      // The targets of links and pictures.
      for match in prose.matches(of: #/\]\(([^)\s]+)\)/#) {
        let link = match.1
        if link.contains("://") || link.hasPrefix("mailto:") { continue }
        count += 1
        let parts = link.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
        let folder = URL(fileURLWithPath: "/" + page).deletingLastPathComponent()
        let target = folder.appendingPathComponent(String(parts[0])).standardized.path
        let path = parts[0].isEmpty ? page : String(target.dropFirst())
        let file = Repository.root.appendingPathComponent(path)
        #expect(FileManager.default.fileExists(atPath: file.path), "\(page): \(link)")
        guard parts.count == 2, path.hasSuffix(".md") else { continue }
        let anchors = Self.anchors(in: try Repository.text(path))
        #expect(anchors.contains(String(parts[1])), "\(page): \(link)")
      }
    }
    #expect(count > 50)
  }
}
