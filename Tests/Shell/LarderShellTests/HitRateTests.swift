import Foundation
import Larder
import TestSupport
import Testing

@testable import LarderShell
@testable import ShellLanguage

@Suite struct HitRateTests {
  private let path = TemporaryDirectory.unusedPath

  private func page(of shell: Shell, _ words: String = "") throws -> String {
    defer { try? FileManager.default.removeItem(atPath: path) }
    try shell("report \(path) \(words)")
    return try String(contentsOfFile: path, encoding: .utf8)
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
    let chart = HitRateChart([
      sample(1, 10, 10), sample(2, 13, 11), sample(3, 13, 11), sample(4, 1, 0), sample(5, 2, 1),
    ])
    #expect(chart.intervals.map(\.rate) == [0.75, 0.5])
    #expect(chart.intervals.map(\.reads) == [4, 2])
    #expect(HitRateChart([]).intervals == [])
  }
}
