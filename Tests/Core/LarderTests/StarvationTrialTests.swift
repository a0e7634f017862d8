import Foundation
import TestSupport
import Testing

/// A short run of `LarderPeer starvation-trials`; `make trials` runs more of it.
@Suite struct StarvationTrialTests {
  @Test func `a process that lacks something gets an error, ends, and leaves a sound store`() throws
  {
    let directory = TemporaryDirectory()
    let count = 10 * TestSettings.trials
    let peer = try PeerProcess(
      "starvation-trials", directory.path + "/trials", ["\(TestSettings.seed)", "\(count)"])
    let lines = peer.lines()
    let summary = try #require(lines.last)
    print("\(summary) (seed \(TestSettings.seed))")
    #expect(summary.contains(" 0 failures;"), "\(lines.joined(separator: "\n"))")
  }
}
