import Foundation
import Larder
import LarderPeer
import TestSupport
import Testing

/// A short run of `LarderPeer damage-trials`; `make trials` runs more of it.
@Suite struct DamageTrialTests {
  @Test func `damage to any file never crashes, hangs or answers wrongly`() throws {
    let directory = TemporaryDirectory()
    let count = 40 * TestSettings.trials
    let peer = try PeerProcess(
      "damage-trials", directory.path + "/trials", ["\(TestSettings.seed)", "\(count)"])
    let lines = peer.lines()
    let summary = try #require(lines.last)
    print("\(summary) (seed \(TestSettings.seed))")
    #expect(
      summary.hasPrefix("damage: \(count) cases, 0 crashes, 0 hangs, 0 wrong"),
      "\(lines.joined(separator: "\n"))")
  }
}
