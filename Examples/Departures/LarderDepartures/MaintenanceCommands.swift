import ArgumentParser
import Departures
import ExampleProgram
import Larder

struct ShowUsage: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "usage", abstract: "What each shelf holds, and how often it had what was asked.")

  @Flag(help: "Print JSON.")
  var json = false

  @OptionGroup var session: Session

  func run() async throws {
    let store = try session.opened()
    let usage = try session.cache(in: store).usage()
    if json {
      print(try JSONOutput.text(usage))
    } else {
      let columns = ["entries", "bytes", "hits", "stale", "misses"]
      print(
        "".padded(to: 12) + columns.map { $0.flushRight(to: 10) }.joined()
          + "hit rate".flushRight(to: 11))
      for shelf in usage {
        let numbers = [
          shelf.entries, shelf.bytes, Int(shelf.hits), Int(shelf.stale), Int(shelf.misses),
        ]
        let rate = shelf.hitRate.map { "\(Int($0 * 1000) / 10).\(Int($0 * 1000) % 10) %" } ?? "-"
        print(
          shelf.shelf.padded(to: 12) + numbers.map { $0.grouped.flushRight(to: 10) }.joined()
            + rate.flushRight(to: 11))
      }
      session.close(.boards)
    }
    try store.close()
  }
}

struct ClearTiles: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "clear-tiles", abstract: "Removes the pictures of the map, and nothing else.")

  @OptionGroup var session: Session

  func run() async throws {
    let store = try session.opened()
    let removed = try session.cache(in: store).clearTiles()
    print("\(removed.entries) tiles, \(removed.bytes) bytes")
    session.close(.tiles)
    try store.close()
  }
}
