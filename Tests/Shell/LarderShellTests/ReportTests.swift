import Foundation
import Larder
import TestSupport
import Testing

@testable import LarderShell
@testable import ShellLanguage

@Suite struct ReportTests {
  private let path = TemporaryDirectory.unusedPath

  /// The page of the command `report`.
  private func page(of shell: Shell, _ words: String = "") throws -> String {
    defer { try? FileManager.default.removeItem(atPath: path) }
    try shell("report \(path) \(words)")
    return try String(contentsOfFile: path, encoding: .utf8)
  }

  /// Checks a page by the plainest rules of XML: each end tag closes the last open tag.
  private func isWellFormed(_ page: String) -> Bool {
    var open: [Substring] = []
    let body = page.replacingOccurrences(of: "<!DOCTYPE html>", with: "")
    for part in body.split(separator: "<").dropFirst(body.hasPrefix("<") ? 0 : 1) {
      guard let end = part.firstIndex(of: ">") else { return false }
      let tag = part[..<end]
      let name = tag.drop { $0 == "/" }.prefix { $0.isLetter || $0.isNumber }
      if tag.hasPrefix("/") {
        guard open.popLast() == name else { return false }
      } else if !tag.hasSuffix("/"), name != "meta" {
        open.append(name)
      }
    }
    return open.isEmpty
  }

  @Test func `entries with the earliest and the latest times are shown`() throws {
    let shell = try Shell(.plain)
    let notes = shell.store.namespace("notes")
    for (key, written) in [("first", Int64.min), ("last", Int64.max)] {
      for expires: Int64 in [Int64.min, 0, Int64.max - 1] {
        var attributes = EntryAttributes(expires: .at(Timestamp(milliseconds: expires)))
        attributes.written = Timestamp(milliseconds: written)
        attributes.stale = .milliseconds(Int64.max / 2)
        try notes.set([1], for: "\(key) \(expires)", attributes)
      }
    }
    let commands = [
      "keys @* --long --all", "info @notes first*", "plot expiry @*", "plot age @*", "plot idle @*",
      "sizes @*", "expiring @*", "export - @* --all", "ttl @notes 'last 0'", "namespaces", "stats",
    ]
    for command in commands {
      do { try shell(command) } catch { #expect(error is ShellError, "\(command)") }
    }
    #expect(isWellFormed(try page(of: shell)))
  }

  @Test func `limits that cannot be are shown as numbers`() {
    #expect(Wording.size(.min) == "-9223372036854775808 B")
    #expect(Wording.size(.max) == "9.2 EB")
  }

  @Test func `the page is whole, has no script and asks no network`() throws {
    let shell = try Shell()
    try shell.fill()
    let page = try page(of: shell)
    #expect(isWellFormed(page))
    for word in ["<script", "http:", "https:", "url(", "onload"] { #expect(!page.contains(word)) }
    for title in [
      "Space by namespace", "Expiry distribution", "Entry age", "Sizes", "Hit rate",
      "The largest entries", "Limits",
    ] {
      #expect(page.contains("<h2>\(title)</h2>"))
    }
    #expect(page.contains("prefers-color-scheme: dark"))
    #expect(page.contains(">1.5 kB, ") == false && page.contains("3 kB, 3 entries"))
    #expect(isWellFormed(try self.page(of: shell, "@thumbs")))
    #expect(isWellFormed(try self.page(of: try Shell())))
  }

  @Test func `no key or namespace can act in a page`() throws {
    let seed = TestSettings.seed
    var random = SeededRNG(seed: seed)
    let shell = try Shell()
    for name in ["<b>", "a&\"'>", "x"] {
      for _ in 0..<30 {
        let key = random.awkwardBytes(upTo: 200) + Array("<script>&'\">".utf8)
        try shell.store.namespace(name).set(random.awkwardBytes(upTo: 50), for: key)
      }
    }
    let page = try page(of: shell)
    #expect(isWellFormed(page), "LARDER_SEED=\(seed)")
    #expect(!page.contains("<script>") && !page.contains("<b>"))
    let isSafe = page.split(separator: "\n").allSatisfy { String($0).isSafe }
    #expect(isSafe, "LARDER_SEED=\(seed)")
  }
}

@Suite struct ManualPageTests {
  private let page = ManualPage(.standard, version: "1.0").text

  @Test func `every command, option and topic is in it`() {
    for command in CommandTable.standard.commands {
      #expect(page.contains(".B \(ManualPage.escaped(command.usage))\n"))
      for option in command.ownOptions {
        #expect(page.contains(".B \(ManualPage.escaped(option.usage))\n"))
      }
    }
    for option in ProgramOptions.all { #expect(page.contains(ManualPage.escaped(option.name))) }
    for topic in HelpTopic.all {
      #expect(page.contains(".SH \(topic.name.uppercased())\n"))
    }
  }

  @Test func `no text is taken for a request of the formatter`() {
    let requests = [".TH", ".SH", ".SS", ".PP", ".TP", ".B", ".RS", ".RE", ".nf", ".fi"]
    for line in page.split(separator: "\n") {
      #expect(line.utf8.allSatisfy { (0x20..<0x7F).contains($0) }, "\(line)")
      #expect(!line.hasPrefix("'"))
      guard line.hasPrefix(".") else { continue }
      #expect(requests.contains(String(line.prefix { $0 != " " })), "\(line)")
    }
    #expect(ManualPage.escaped(".x") == "\\&.x")
  }
}
