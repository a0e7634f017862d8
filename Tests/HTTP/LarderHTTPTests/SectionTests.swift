import Foundation
import TestSupport
import Testing

/// Checks the table of sections in `Docs/Use/HTTP.md` against the tests in all folders of this target.
struct SectionTests {
  private static let tests = Repository.root.appending(path: "Tests/HTTP/LarderHTTPTests")

  @Test func `each section of RFC 9111 has a test in each suite that the table names`() throws {
    let document = try Repository.text("Docs/Use/HTTP.md")
    let text = try FileManager.default.subpathsOfDirectory(atPath: Self.tests.path)
      .filter { $0.hasSuffix("Tests.swift") }.map {
        try String(contentsOf: Self.tests.appending(path: $0), encoding: .utf8)
      }
    var rows = 0
    for match in document.matches(of: /(?m)^\| ([1-7][.\d]*) \|.*\| (`\w+Tests`.*) \|$/) {
      rows += 1
      let section = String(match.1).replacing(".", with: "\\.")
      let name = try Regex("func `RFC 9111, ([^:`]* and )?\(section)[.: ]")
      let suites = match.2.matches(of: /`(\w+)`/).map { "struct \($0.1) " }
      #expect(
        suites.allSatisfy { suite in text.contains { $0.contains(suite) } },
        "a suite of \(match.1) is missing: \(match.2)")
      #expect(
        text.contains { file in
          suites.contains { file.contains($0) } && file.contains(name)
        }, "no test of \(match.2) begins with RFC 9111, \(match.1)")
    }
    #expect(rows >= 25)
  }
}
