import Foundation
import TestSupport
import Testing

/// Short runs of the trials of `LarderPeer`. `make trials` runs more trials.
@Suite struct DamageTrialTests {
  @Test func `damage to any file never crashes, hangs or answers wrongly`() throws {
    let count = 40 * TestSettings.trials
    let (summary, lines) = try run("damage-trials", count)
    #expect(summary.hasPrefix("damage: \(count) cases, 0 crashes, 0 hangs, 0 wrong"), "\(lines)")
  }
}

@Suite struct StarvationTrialTests {
  @Test func `a process that lacks something gets an error, ends, and leaves a sound store`() throws
  {
    let (summary, lines) = try run("starvation-trials", 10 * TestSettings.trials)
    #expect(summary.contains(" 0 failures;"), "\(lines)")
  }
}

private func run(_ trials: String, _ count: Int) throws -> (summary: String, lines: String) {
  try withTemporaryDirectory { path in
    let peer = try PeerProcess(
      trials, path + "/trials", ["\(TestSettings.seed)", "\(count)"])
    let lines = peer.lines()
    let summary = try #require(lines.last)
    print("\(summary) (seed \(TestSettings.seed))")
    return (summary, lines.joined(separator: "\n"))
  }
}
