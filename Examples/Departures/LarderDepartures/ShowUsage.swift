import ArgumentParser
import Departures
import ExampleProgram
import Foundation
import Larder

struct ShowUsage: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "usage", abstract: "The size and the hit rate of each namespace.")

  @OptionGroup var session: Session

  private struct Usage: Encodable {
    struct Namespace: Encodable {
      var name: String
      var entries: Int
      var bytes: Int
      var hits: UInt64
      var stale: UInt64
      var misses: UInt64
    }
    /// In bytes; no limit is any number.
    struct Tier: Encodable {
      var used: Int
      var limit: Int?
    }
    var namespaces: [Namespace]
    var disk: Tier
    var memory: Tier
  }

  func run() async throws {
    try await session.open(showing: [.boards]) { cache in
      let statistics = try cache.store.statistics()
      var table = TextTable(["", "entries", "bytes", "hits", "stale", "misses", "hit rate"])
      for namespace in statistics.namespaces {
        let (info, reads) = (namespace.info, namespace.reads)
        let numbers = [
          info.entries, info.bytes, Int(reads.hits), Int(reads.staleHits), Int(reads.misses),
        ]
        table.add([info.name] + numbers.map(\.grouped) + [reads.hitRate?.percent ?? "-"])
      }
      func share(_ tier: Statistics.Tier) -> String {
        "\(tier.used.grouped) of \(tier.limit.map(\.grouped) ?? "any number of") bytes"
      }
      let total = statistics.usage
      let usage = Usage(
        namespaces: statistics.namespaces.map { namespace in
          let (info, reads) = (namespace.info, namespace.reads)
          return Usage.Namespace(
            name: info.name, entries: info.entries, bytes: info.bytes, hits: reads.hits,
            stale: reads.staleHits, misses: reads.misses)
        },
        disk: Usage.Tier(used: total.disk.used, limit: total.disk.limit),
        memory: Usage.Tier(used: total.memory.used, limit: total.memory.limit))
      try session.show(
        usage,
        table.lines + ["disk: \(share(total.disk)); memory: \(share(total.memory))"])
    }
  }
}

struct SaveTile: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "tile", abstract: "Saves a picture of the map, from the store or the service.")

  @Argument var zoom: Int
  @Argument var x: Int
  @Argument var y: Int
  @Option(help: "The file to write.") var output: String
  @Option(help: "Whether the store or the service answers.") var policy: RequestPolicy = .standard
  @OptionGroup var session: Session

  func run() async throws {
    try await session.open(showing: [.tiles]) { cache in
      let tile = try await Failure.orNoSuchKey {
        try await cache.tile(zoom: zoom, x: x, y: y, policy: policy)
      }
      try Data(tile.value).write(to: URL(filePath: output))
      try session.show(
        Sourced(tile, tile.value.count), ["\(tile.value.count) bytes, \(tile.words)"])
    }
  }
}
