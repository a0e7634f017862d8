import Foundation
import LMDB
import LarderPeer
import TestSupport
import Testing

@Suite struct `Several processes` {
  let directory = TemporaryDirectory()

  @Test func `a program started from here inherits none of our files`() throws {
    let peer = try PeerProcess("descriptors", directory.store)
    let lines = peer.lines()
    #expect(lines.contains { $0.contains("->") })
    #expect(!lines.contains { $0.contains("store") })
    #expect(try peer.end() == 0)
  }

  @Test(arguments: [
    ("larder-fill", []), ("write", ["1"]), ("grow", ["x"]), ("number", []), ("number", ["1", "9"]),
    ("grow", ["-1"]), ("load", []), ("lock", []), ("power", ["durable"]),
    ("damage-cases", ["1", "1", "none"]), ("starved-client", ["hunger"]), ("unknown", []),
  ]) func `a peer without arguments ends with usage`(scenario: String, arguments: [String]) throws {
    let peer = try PeerProcess(scenario, directory.store, arguments)
    #expect(peer.lines().last?.hasPrefix("usage: LarderPeer ") == true)
    #expect(try peer.end() == 64)
  }

  @Test func `a forked child uses nothing inherited, may open the store, harms nobody`() throws {
    let peer = try PeerProcess("fork", directory.store)
    let lines = (0..<9).map { _ in peer.line() ?? "-" }
    #expect(
      lines == [
        "read forked", "write forked", "sync forked", "readers forked", "clear forked", "last 0",
        "own true [1]", "child ended 0", "parent [1] [2]",
      ])
    // The child has not released the locks of its parent, so this process finds the parent's readers, and both processes write.
    let environment = try Fixture.open(directory.store)
    #expect(try environment.readerTable.readers().contains { $0.process == peer.identifier })
    for round in UInt8(0)..<50 { try environment.set([9], [round]) }
    try peer.endInput()
    #expect(peer.line() == "closed true")
    #expect(try environment.value([4]) == [4])
    try environment.set([9], [99])
  }

  @Test func `a forked child takes a number of its own`() throws {
    let peer = try PeerProcess("fork-with-number", directory.path)
    #expect(peer.lines() == ["own true", "child ended 0", "same true"])
  }

  @Test func `a read that a forked child leaves goes on in the parent`() throws {
    #expect(try PeerProcess("fork-in-read", directory.store).lines() == ["view true"])
  }

  @Test func `a write that a forked child returns from is committed by the parent alone`() throws {
    let peer = try PeerProcess("fork-in-write", directory.store)
    #expect(peer.lines() == ["child forked", "parent done [1]"])
    #expect(try Fixture.open(directory.store).value([1]) == [1])
  }

  @Test(.timeLimit(.minutes(20)))
  func `a child forked during a write of another thread closes without waiting`() throws {
    let peer = try PeerProcess("fork-while-writing", directory.store)
    #expect(Set(peer.lines()) == ["child true", "child [2]", "parent done", "ended 0 [1]"])
  }
}

private let container = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc"]
private let canMakeContainers = Process.succeeds(container + ["true"])

/// Processes in several process id namespaces, as in containers, use one store. In each namespace the program has the id 1.
@Suite(.enabled(if: canMakeContainers, "this system allows no process id namespace"))
struct `Several containers` {
  let directory = TemporaryDirectory()
  var store: String { directory.store }

  private func peer(_ scenario: String, saying first: String? = nil) throws -> PeerProcess {
    try PeerProcess(scenario, store, under: container, saying: first)
  }

  @Test func `a process with the id of another in the store is refused in words`() throws {
    let first = try peer("hold", saying: "open")
    #expect(try peer("hold").lines() == ["refused sameProcessID"])
    // This process has another id than 1, so the store opens.
    try Fixture.open(store).set([5], [6])
    #expect(try first.end() == 0)
    #expect(try peer("hold", saying: "open").end() == 0)
    #expect(try Fixture.open(store).value([5]) == [6])
  }

  @Test func `what a killed container left is freed at its next start with the same id`() throws {
    // Keeps the store open. Otherwise the next process would begin a new reader table without the slots of the killed process.
    let environment = try Fixture.open(store, Fixture.options(durability: .checkpointed))
    func slots() throws -> [ReaderTable.Reader] {
      try environment.readerTable.readers().filter { $0.process == 1 }
    }
    let killed = try peer("write-and-stay")
    #expect(killed.line()?.hasPrefix("written") == true)
    killed.kill()
    #expect(killed.lines() == [])
    let left = try slots()
    #expect(!left.isEmpty)
    let again = try peer("write-and-stay")
    #expect(again.line()?.hasPrefix("written") == true)
    let now = try slots()
    #expect(now.count <= left.count)
    for slot in left where slot.transaction != nil { #expect(!now.contains(slot)) }
    #expect(try again.end() == 0)
    #expect(try slots() == [])
  }
}

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
  func `one of 3 killed: others go on, acknowledged writes stay`(level: DurabilityLevel) throws {
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
  func `all killed at once, again and again: numbers have no gap`(level: DurabilityLevel) throws {
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
    let last = try #require(try Numbering.verify(environment))
    #expect(Set(numbers).count == numbers.count, "LARDER_SEED=\(seed)")
    #expect(last >= numbers.max() ?? 0, "LARDER_SEED=\(seed)")
    environment.close()
  }
}
