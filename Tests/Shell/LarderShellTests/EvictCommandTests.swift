import Foundation
import Larder
import TestSupport
import Testing

@testable import LarderShell
@testable import ShellLanguage

@Suite struct EvictCommandTests {
  @Test(arguments: [Duration.zero, .seconds(1)])
  func `an entry written after the question stays, also in its moment`(delay: Duration) throws {
    let shell = try Shell.filled(hasPerson: true)
    shell.whileAsked = { [unowned shell] in
      shell.clock.advance(by: delay)
      try shell.store.namespace("departures").set("new", for: "Malm\u{F6} C:02")
    }
    try shell("evict @departures M*")
    #expect(try shell("keys @departures M*").contains("\"Malm\u{F6} C:02\""))
    #expect(try shell("count @departures M*") == "1 entry, 3 B\n")
  }

  @Test func `a batch that is made twice counts once`() throws {
    let shell = try Shell.filled(.plain)
    var report = ExpiryReport()
    var tries = 0
    var change = try EntryChange(
      "persist", past: "persisted", invocation("persist @articles * --yes"), in: shell.session)
    try change.apply { batch, namespace, entry -> ExpiryReport.Effect? in
      tries += 1
      if tries == 3 { throw LarderError(.full, "no pages") }
      return tries.isMultiple(of: 2) ? .unchanged : .changed(from: nil, to: stockholm.now)
    } record: {
      report.add($0)
    }
    #expect(tries == 6)
    #expect((report.changed, report.unchanged) == (1, 2))
    #expect(change.summary.total.entries == 1)
  }

  @Test func `an entry written again since it was chosen by a filter stays`() throws {
    let shell = try Shell.filled(.plain)
    var isFirst = true
    var change = try EntryChange(
      "evict", past: "evicted", invocation("evict @articles --larger 1 --yes"), in: shell.session)
    try change.apply { batch, namespace, entry in
      // The second entry is written again during the removal of the first.
      if isFirst { try batch.set("new", for: "000012", in: namespace) }
      isFirst = false
      try batch.remove(entry.key, from: namespace)
      return true
    }
    #expect(try shell("keys @articles") == "000012\n")
  }

  @Test func `interrupted, a change stops between batches and says what was done`() throws {
    let shell = try Shell(.plain)
    let box = try shell.fill("box", 0..<2000)
    shell.stepsUntilInterrupted = 1200
    let error = try shell.error("evict @box * --yes")
    #expect(error.code == .interrupted && error.code.exitCode == 130)
    let left = try box.count()
    #expect(left > 0 && left < 2000 && left.isMultiple(of: 500))
    let evicted = Wording.count(2000 - left)
    #expect(
      error.message.description
        == "interrupted: evicted \(evicted) entries; the rest is unchanged", "\(error.message)")
  }

  @Test func `a change of large values is cut into batches that a store takes`() throws {
    let shell = try Shell(.plain)
    let box = shell.store.namespace("box")
    for number in 0..<5 {
      try box.set([UInt8](repeating: UInt8(number), count: 30_000_000), for: number)
    }
    #expect(try shell("touch @box --ttl 1h --yes") == "touch\tbox\t5\t150000000\n")
  }
}
