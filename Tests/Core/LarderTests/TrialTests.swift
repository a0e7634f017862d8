import Foundation
import Larder
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
  @Test func `a process that lacks a thing gets an error, ends, leaves a sound store`() throws {
    let (summary, lines) = try run("starvation-trials", 10 * TestSettings.trials)
    #expect(summary.contains(" 0 failures;"), "\(lines)")
  }
}

private func run(_ trials: String, _ count: Int) throws -> (summary: String, lines: String) {
  try withTemporaryDirectory { path in
    let peer = try PeerProcess(trials, path + "/trials", ["\(TestSettings.seed)", "\(count)"])
    let lines = peer.lines()
    let summary = try #require(lines.last)
    print("\(summary) (seed \(TestSettings.seed))")
    return (summary, lines.joined(separator: "\n"))
  }
}

/// Four processes with four threads each make all kinds of calls. The test stops and continues the processes at random times.
@Suite(.timeLimit(.minutes(30))) struct RaceTrialTests {
  @Test func `four processes of four threads lose nothing and see no half of a change`() throws {
    let directory = TemporaryDirectory()
    var random = SeededRNG()
    let rounds = 150 * TestSettings.trials
    let path = directory.path + "/store"
    let store = try Store(at: path)
    let peers = try (0..<4).map {
      try PeerProcess("race", path, ["\(random.seed)", "\(rounds)", "\($0)"])
    }
    for peer in peers { #expect(peer.line() == "open") }
    var stops = 0
    while peers.contains(where: \.isRunning) {
      let peer = peers.randomElement(using: &random)!
      if peer.isRunning {
        kill(pid_t(peer.identifier), SIGSTOP)
        usleep(UInt32(random.next(in: 100..<20_000)))
        kill(pid_t(peer.identifier), SIGCONT)
        stops += 1
      }
      usleep(UInt32(random.next(in: 100..<10_000)))
    }
    var (sum, claims) = (0, 0)
    for peer in peers {
      let lines = peer.lines()
      for line in lines {
        #expect(!line.hasPrefix("WRONG"), "LARDER_SEED=\(random.seed): \(line)")
        if line.hasPrefix("sum ") { sum += Int(line.dropFirst(4))! }
        if line.hasPrefix("claims ") { claims += Int(line.dropFirst(7))! }
      }
      #expect(lines.last == "end", "LARDER_SEED=\(random.seed)")
    }
    var stored = 0
    for key in 0..<4 {
      let text: String? = try store.namespace("sums").value(for: key)
      stored += text.flatMap { Int($0) } ?? 0
    }
    #expect(stored == sum, "LARDER_SEED=\(random.seed)")
    #expect(try store.namespace("claims").count() == claims, "LARDER_SEED=\(random.seed)")
    try store.verifyAndClose("LARDER_SEED=\(random.seed)")
    print(
      "races: 16 threads in 4 processes, \(rounds * 16) calls, \(stops) stops; "
        + "\(sum) increments and \(claims) claims, \(sum - stored) lost (seed \(random.seed))")
  }
}
