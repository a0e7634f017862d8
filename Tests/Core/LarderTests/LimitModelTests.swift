import LMDB
import LarderSystem
import TestSupport
import Testing

@testable import Larder

/// Makes the random changes of ``OwnerRun`` while another process changes entries and limits. After each change, counts the
/// entries and bytes in the store, and compares the counts with the counters and with every limit.
@Suite struct LimitModelTests {
  @Test func `after every commit nothing holds more than it may`() throws {
    let (seed, steps) = (Int(TestSettings.seed), 3_000 * TestSettings.trials)
    try withStoreOnDisk(unflushed()) { store, _ in
      let peer = try PeerProcess("limits", store.path, ["\(seed)", "\(steps)"], saying: "open")
      var run = OwnerRun(store: store, clock: nil, seed: seed, ranges: .large)
      run.run(steps)
      #expect(run.written > steps / 10)
      #expect(peer.line()?.hasPrefix("done") == true)
    }
  }
}

extension OwnerRun {
  struct Ranges {
    let keys: Range<Int>
    let batch: Range<Int>
    let size: Range<Int>
    let largeSize: Range<Int>
    /// The percentage of values whose size is in the range ``largeSize``.
    let largeValues: Int
    let entries: Range<Int>
    let bytes: Range<Int>
    let storeEntries: Range<Int>
    let storeBytes: Range<Int>
    let stepsPerVerification: Int

    static let small = Ranges(
      keys: 0..<14, batch: 1..<6, size: 0..<10, largeSize: 0..<80, largeValues: 20, entries: 1..<21,
      bytes: 20..<300, storeEntries: 3..<30, storeBytes: 100..<500, stepsPerVerification: 1)
    static let large = Ranges(
      keys: 0..<60, batch: 1..<15, size: 0..<200, largeSize: 0..<3000, largeValues: 10,
      entries: 1..<50, bytes: 100..<5000, storeEntries: 10..<120, storeBytes: 500..<10_000,
      stepsPerVerification: 10)
  }

  /// Counts the entries and bytes of each namespace in one snapshot, and compares the counts with the counters and the limits.
  func checkLimits(_ what: String) throws {
    let engine = store.engine
    let transaction = try engine.beginRead()
    let limits = try engine.metadata.settings(in: transaction).limits
    var total = (entries: 0, bytes: 0)
    for namespace in try engine.metadata.namespaces(in: transaction) {
      let (facts, counters) = (namespace.facts, namespace.counters)
      var found = (entries: 0, bytes: 0)
      var cursor = try transaction.cursor(in: .entries)
      let prefix = namespace.id.prefix
      var record = try cursor.seek(prefix.span)
      while let entry = record, entry.key.starts(with: prefix.span) {
        found.entries += 1
        found.bytes += entry.value.count - EntryHeader(entry.value)!.payloadStart
        record = try cursor.next()
      }
      guard found == (facts.entries, facts.bytes) else {
        throw Broken(description: "\(what): found \(found), counted \(facts)")
      }
      let usage = Usage(entries: counters.entries, bytes: counters.bytes)
      guard facts.rules.limits.exceeded(by: usage) == nil else {
        throw Broken(description: "\(what): \(facts)")
      }
      total.entries += found.entries
      total.bytes += found.bytes
    }
    guard total.entries <= limits.entries ?? .max, total.bytes <= limits.bytes ?? .max else {
      throw Broken(description: "\(what): \(total) in a store limited to \(limits)")
    }
  }
}
