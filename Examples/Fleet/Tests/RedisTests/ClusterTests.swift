import FleetKit
import Foundation
import Larder
import LarderRedis
import LarderShared
import LarderSharedTesting
import Testing

private let isInstalled = RedisServer.program != nil
private let needsServer: Comment = "skipped: redis-server is not installed"

/// Three servers on loopback that share the slots of one key space.
struct Cluster {
  /// The slot of every key of the application `shop`.
  static let slot = "3808"

  let nodes: [RedisServer]
  let ids: [String]

  init() async throws {
    var nodes: [RedisServer] = []
    for _ in 0..<3 {
      nodes.append(
        try await RedisServer(["cluster-enabled yes", "cluster-node-timeout 2000"]))
    }
    self.nodes = nodes
    let bounds = [0, 5461, 10_923, 16_384]
    var ids: [String] = []
    for (index, node) in nodes.enumerated() {
      let sender = try node.sender()
      let reply = try await sender.run(
        "CLUSTER", "ADDSLOTSRANGE", "\(bounds[index])", "\(bounds[index + 1] - 1)")
      #expect(reply == .bytes(Array("OK".utf8)))
      ids.append(
        String(decoding: try await sender.run("CLUSTER", "MYID").bytes ?? [], as: UTF8.self))
      if index > 0 {
        _ = try await sender.run("CLUSTER", "MEET", "127.0.0.1", "\(nodes[0].port)")
      }
    }
    self.ids = ids
    for node in nodes {
      try await poll {
        let info = try await node.sender().run("CLUSTER", "INFO").bytes ?? []
        return String(decoding: info, as: UTF8.self).contains("cluster_state:ok")
      }
    }
  }

  /// A sender that first asks a node without the slot.
  func sender() throws -> RedisSender {
    try RedisSender(
      host: "127.0.0.1", port: nodes[2].port,
      others: nodes.dropLast().map { ServerAddress("127.0.0.1", $0.port) })
  }

  /// Moves the application's slot key by key while it is in use.
  func moveSlot(from: Int, to: Int) async throws {
    let (source, target) = (try nodes[from].sender(), try nodes[to].sender())
    _ = try await target.run("CLUSTER", "SETSLOT", Self.slot, "IMPORTING", ids[from])
    _ = try await source.run("CLUSTER", "SETSLOT", Self.slot, "MIGRATING", ids[to])
    while true {
      let keys = try await source.run("CLUSTER", "GETKEYSINSLOT", Self.slot, "10").list ?? []
      if keys.isEmpty { break }
      for case .bytes(let key) in keys {
        let words = [
          Array("MIGRATE".utf8), Array("127.0.0.1".utf8), Array("\(nodes[to].port)".utf8), key,
          Array("0".utf8), Array("5000".utf8),
        ]
        _ = try await source.send(Command(words, timeout: .seconds(10)))
      }
    }
    for sender in [target, source] {
      _ = try await sender.run("CLUSTER", "SETSLOT", Self.slot, "NODE", ids[to])
    }
  }
}

@Suite(.enabled(if: isInstalled, needsServer), .serialized) struct ClusterTests {
  @Test func theTierKeepsTheRulesInACluster() async throws {
    let cluster = try await Cluster()
    let sender = try cluster.sender()
    for check in SenderConformance.allCases { try await check.run(on: sender) }
    let tier = try StreamTier(sender, application: "test", options: .patient)
    for check in TierConformance.allCases { try await check.run(on: tier) }
  }

  /// The slot moves twice while one machine changes its keys.
  @Test func machinesFollowASlotThatMoves() async throws {
    let cluster = try await Cluster()
    func machine() throws -> (Store, SharedCache<String>) {
      let store = try Store.temporary()
      let shared = try Shared(cluster.sender(), application: "shop", options: .patient)
      return (store, store.cache(TextCodec(), in: "prices", shared: shared))
    }
    let (one, two) = (try machine(), try machine())
    for index in 0..<50 { try await one.1.set("old", for: "\(index)") }
    for index in 0..<50 { _ = try await two.1.value(for: "\(index)") { "loaded" } }
    // At first, node 0 has the slot.
    for (from, to) in [(0, 2), (2, 1)] {
      async let moved: Void = cluster.moveSlot(from: from, to: to)
      for index in 0..<50 {
        try await poll {
          do {
            try await one.1.set("\(to)-\(index)", for: "\(index)")
            return true
          } catch let error as LarderError {
            // For a moment the keys of one script are on two nodes, so the server refuses the script.
            #expect([.unreachable, .unanswered].contains(error.code))
            return false
          }
        }
      }
      try await moved
      try await poll {
        for index in 0..<50 {
          let result = try await two.1.result(for: "\(index)") { "loaded" }
          if result.value != "\(to)-\(index)" || !result.isConfirmed { return false }
        }
        return true
      }
    }
    #expect(one.1.shared.statistics.gaps == 0 && two.1.shared.statistics.gaps == 0)
    for machine in [one, two] { #expect(try machine.0.verify().faults == []) }
  }
}
