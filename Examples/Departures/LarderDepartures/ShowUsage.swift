import ArgumentParser
import Departures
import ExampleProgram
import Foundation
import Larder

struct ShowUsage: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "usage", abstract: "The size and the hit rate of each namespace.")

  @OptionGroup var session: Session

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
      try session.show(
        Dictionary(
          uniqueKeysWithValues: statistics.namespaces.map { ($0.info.name, $0.info.bytes) }),
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
  @OptionGroup var session: Session

  func run() async throws {
    try await session.open(showing: [.tiles]) { cache in
      let tile = try await Failure.orNoSuchKey { try await cache.tile(zoom: zoom, x: x, y: y) }
      try Data(tile.value).write(to: URL(filePath: output))
      try session.show(
        Sourced(tile, tile.value.count), ["\(tile.value.count) bytes, \(tile.words)"])
    }
  }
}
