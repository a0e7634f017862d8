import Foundation
import LMDB
import LarderPeer
import TestSupport
import Testing

/// The environment variable `LARDER_TRIALS` multiplies the rounds: `LARDER_TRIALS=40` makes these tests long.
@Suite struct `Killed writers` {
  let directory = TemporaryDirectory()

  private func start(_ author: Int, _ level: DurabilityLevel) throws -> PeerProcess {
    try PeerProcess("number", directory.store, ["\(author)", "\(level.rawValue)"])
  }

  private static let levels: [DurabilityLevel] = [.durable, .checkpointed, .scratch]

  /// The levels differ only in files beside the LMDB files, so levels other than `durable` need only a third of the rounds.
  private func rounds(_ usual: Int, _ level: DurabilityLevel) -> Int {
    (level == .durable ? usual : usual / 3) * TestSettings.trials
  }

  private func expectLines(of peers: [PeerProcess], _ round: Int) {
    for peer in peers {
      let before = peer.soFar.count
      #expect(
        eventually { peer.soFar.count > before + 3 },
        "a process stands still: LARDER_SEED=\(seed), round \(round)")
    }
  }

  private func acknowledged(_ peer: PeerProcess) -> [Int] { peer.lines().compactMap { Int($0) } }

  @Test(.timeLimit(.minutes(60)), arguments: levels)
  func `one killed of three: the others go on, and every acknowledged write is there`(
    level: DurabilityLevel
  ) throws {
    var random = SeededRNG(seed: UInt64(seed))
    var peers = try (0..<3).map { try start($0, level) }
    var numbers: [Int] = []
    for round in 0..<rounds(25, level) {
      expectLines(of: peers, round)
      usleep(useconds_t.random(in: 0..<3000, using: &random))
      let killed = peers.remove(at: Int.random(in: 0..<3, using: &random))
      killed.kill()
      numbers += acknowledged(killed)
      peers.append(try start(round + 3, level))
    }
    for peer in peers { peer.kill() }
    numbers += peers.flatMap { acknowledged($0) }
    try verify(numbers)
  }

  @Test(.timeLimit(.minutes(60)), arguments: levels)
  func `all killed at once, again and again: the numbering has no gap`(level: DurabilityLevel)
    throws
  {
    var random = SeededRNG(seed: UInt64(seed))
    var numbers: [Int] = []
    for round in 0..<rounds(8, level) {
      let peers = try (0..<3).map { try start($0, level) }
      expectLines(of: peers, round)
      usleep(useconds_t.random(in: 0..<5000, using: &random))
      for peer in peers { peer.kill() }
      numbers += peers.flatMap { acknowledged($0) }
      try verify(numbers)
    }
  }

  @Test(.timeLimit(.minutes(60)))
  func `readers killed while they come and go: the others go on`() throws {
    var random = SeededRNG(seed: UInt64(seed))
    var peers = try (0..<3).map { _ in try PeerProcess("crowd", directory.store) }
    for round in 0..<25 * TestSettings.trials {
      expectLines(of: peers, round)
      usleep(useconds_t.random(in: 0..<3000, using: &random))
      peers.remove(at: Int.random(in: 0..<3, using: &random)).kill()
      peers.append(try PeerProcess("crowd", directory.store))
    }
  }

  /// Expects that every record is whole and in order, that no number occurs twice, and that no printed number is missing.
  private func verify(_ numbers: [Int]) throws {
    let environment = try Fixture.open(directory.store, Fixture.options(durability: nil))
    let verified = try Numbering.verify(environment)
    let last = try #require(verified)
    #expect(Set(numbers).count == numbers.count, "LARDER_SEED=\(seed)")
    #expect(last >= numbers.max() ?? 0, "LARDER_SEED=\(seed)")
    environment.close()
  }
}
