import ArgumentParser
import Departures
import ExampleProgram
import Foundation
import Larder

struct ShowUsage: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "usage", abstract: "The size and the hit rate of each namespace.")

  @Flag(help: "Print JSON.")
  var json = false

  @OptionGroup var session: Session

  func run() async throws {
    try await session.open(showing: json ? nil : [.boards]) { cache in
      let usage = try cache.usage()
      if json { return print(try JSONOutput.text(usage)) }
      var table = TextTable(["", "entries", "bytes", "hits", "stale", "misses", "hit rate"])
      for shelf in usage {
        let numbers = [
          shelf.entries, shelf.bytes, Int(shelf.hits), Int(shelf.stale), Int(shelf.misses),
        ]
        table.add([shelf.shelf] + numbers.map(\.grouped) + [shelf.hitRate?.percent ?? "-"])
      }
      print(table.lines.joined(separator: "\n"))
      let total = try cache.store.statistics().usage
      func share(_ tier: Statistics.Tier) -> String {
        "\(tier.used.grouped) of \(tier.limit.map(\.grouped) ?? "any number of") bytes"
      }
      print("disk: \(share(total.disk)); memory: \(share(total.memory))")
    }
  }
}

struct SaveTile: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "tile", abstract: "Saves a picture of the map, from the store or the service.")

  @Argument var zoom: Int
  @Argument var x: Int
  @Argument var y: Int

  @Option(help: "The file to write.")
  var output: String

  @OptionGroup var session: Session

  func run() async throws {
    try await session.open(showing: [.tiles]) { cache in
      let tile = try await cache.tile(zoom: zoom, x: x, y: y)
      try Data(tile.value).write(to: URL(filePath: output))
      print("\(tile.value.count) bytes, \(tile.words)")
    }
  }
}

struct ClearTiles: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "clear-tiles", abstract: "Removes the pictures of the map, nothing else.")

  @OptionGroup var session: Session

  func run() async throws {
    try await session.open(showing: [.tiles]) { cache in
      let removed = try cache.clearTiles()
      print("\(removed.entries) tiles, \(removed.bytes) bytes")
    }
  }
}
