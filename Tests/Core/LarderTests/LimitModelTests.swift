import LarderSystem
import TestSupport
import Testing

@testable import Larder

/// The random changes of ``OwnerRun`` beside another process that changes entries and limits. After each change, the test compares
/// the counters with what the store holds, and with every limit.
@Suite struct LimitModelTests {
  @Test func `after every commit nothing holds more than it may`() throws {
    let (seed, steps) = (Int(TestSettings.seed), 3_000 * TestSettings.trials)
    var options = Store.Options()
    options.flushes = false
    try withStoreOnDisk(options) { store, _ in
      let peer = try PeerProcess(
        "limits", store.path, ["\(seed)", "\(steps / 6)"], saying: "open")
      var run = OwnerRun(store: store, clock: nil, seed: seed)
      run.run(steps)
      #expect(run.written > steps / 10)
      #expect(peer.line()?.hasPrefix("done") == true)
    }
  }
}

extension OwnerRun {
  /// Checks one snapshot: the counts of each namespace and of the store are within the limits.
  func checkLimits(_ what: String) throws {
    let engine = store.engine
    let transaction = try engine.beginRead()
    let limits = try engine.metadata.settings(in: transaction).limits
    var total = (entries: 0, bytes: 0)
    for namespace in try engine.metadata.namespaces(in: transaction) {
      let (facts, counters) = (namespace.facts, namespace.counters)
      let usage = Usage(entries: counters.entries, bytes: counters.bytes)
      guard facts.rules.limits.exceeded(by: usage) == nil else {
        throw Broken(description: "\(what): \(facts)")
      }
      total.entries += facts.entries
      total.bytes += facts.bytes
    }
    guard total.entries <= limits.entries ?? .max, total.bytes <= limits.bytes ?? .max else {
      throw Broken(description: "\(what): \(total) in a store limited to \(limits)")
    }
  }
}
