import Foundation
import TestSupport
import Testing

@testable import Larder
@testable import LarderShell
@testable import ShellLanguage

@Suite struct ReportTests {
  private func page(of shell: Shell, _ words: String = "") throws -> String {
    try shell("report \(shell.file) --force \(words)")
    return try String(contentsOfFile: shell.file, encoding: .utf8)
  }

  /// Checks only one rule of XML: each end tag closes the last open tag.
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

  @Test func `the page is whole, has no script and asks no network`() throws {
    let shell = try Shell.filled()
    let page = try page(of: shell)
    #expect(isWellFormed(page))
    for word in ["<script", "http:", "https:", "url(", "onload"] { #expect(!page.contains(word)) }
    #expect(page.contains("prefers-color-scheme: dark"))
    #expect(page.contains(">1.5 kB, ") == false && page.contains("3 kB, 3 entries"))
    #expect(isWellFormed(try self.page(of: shell, "@thumbs")))
    #expect(isWellFormed(try self.page(of: try Shell())))
  }

  @Test func `no key or namespace can act in a page`() throws {
    var random = SeededRNG()
    let shell = try Shell()
    for name in ["<b>", "a&\"'>", "x"] {
      for _ in 0..<30 {
        let key = random.awkwardBytes(upTo: 200) + Array("<script>&'\">".utf8)
        try shell.store.namespace(name).set(random.awkwardBytes(upTo: 50), for: key)
      }
    }
    let page = try page(of: shell)
    #expect(isWellFormed(page), "LARDER_SEED=\(random.seed)")
    #expect(!page.contains("<script>") && !page.contains("<b>"))
    let isSafe = page.split(separator: "\n").allSatisfy { String($0).isSafe }
    #expect(isSafe, "LARDER_SEED=\(random.seed)")
  }

  @Test func `the page shows the hit rate over time where maintenance has sampled it`() throws {
    let shell = try Shell()
    let notes = shell.store.namespace("notes")
    try notes.set("v", for: "k")
    #expect(try page(of: shell).contains("No hit rate over time"))
    let maintenance = try Maintenance(of: shell.store)
    try maintenance.runOnce()
    for misses in 1...3 {
      _ = try notes.value(for: "k") as [UInt8]?
      for _ in 0..<misses { _ = try notes.value(for: "absent") as [UInt8]? }
      shell.clock.advance(by: .hours(1))
      try maintenance.runOnce()
    }
    let page = try page(of: shell)
    #expect(page.contains("Hit rate over time, 25 % to 50 %"))
    for rate in ["50 % of 2", "33 % of 3", "25 % of 4"] { #expect(page.contains(">\(rate)<")) }
    #expect(try !self.page(of: shell, "@notes").contains("over time"))
  }

  @Test func `an interval without reads or with a reset has no column`() {
    func sample(_ hour: Int64, _ hits: UInt64, _ misses: UInt64) -> ReadSample {
      ReadSample(
        time: Timestamp(milliseconds: hour * 3_600_000), hits: hits, staleHits: 0, misses: misses)
    }
    let intervals = StoreReport.hitRates([
      sample(1, 10, 10), sample(2, 13, 11), sample(3, 13, 11), sample(4, 1, 0), sample(5, 2, 1),
    ])
    #expect(intervals.map { $0.rate } == [0.75, 0.5])
    #expect(intervals.map { $0.reads } == [4, 2])
    #expect(StoreReport.hitRates([]).isEmpty)
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
    for topic in HelpTopic.all { #expect(page.contains(".SH \(topic.name.uppercased())\n")) }
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
