import ArgumentParser
import Foundation

@main
struct LarderBench: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Measures Larder against LMDB used from C, in one process and in turns.",
    subcommands: [ReadBench.self, UpkeepBench.self, MemoryBench.self, WatchBench.self])
}

struct Place: ParsableArguments {
  @Option(help: "Where the stores are made; emptied before and after.")
  var directory = NSTemporaryDirectory() + "larder-bench"

  func withDirectory(_ body: (String) throws -> Void) throws {
    if FileManager.default.fileExists(atPath: directory) {
      try FileManager.default.removeItem(atPath: directory)
    }
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    try body(directory)
    try FileManager.default.removeItem(atPath: directory)
  }
}

struct ReadBench: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "reads", abstract: "Hits of 200-byte values, 1,000 hot keys and at random.")

  @OptionGroup var place: Place
  @Option(help: "How many entries; repeatable.") var count: [Int] = [10_000, 1_000_000]
  @Option(help: "Reads in a round.") var operations = 500_000
  @Option(help: "Rounds, of which the median counts.") var rounds = 31

  func run() throws {
    try place.withDirectory { directory in
      var random: [(ours: Double, raw: Double)] = []
      for count in count {
        let reads = try Reads(count: count, directory: directory)
        for (name, distinct) in [("hot", min(1000, count)), ("random", count)] {
          let result = try reads.run(distinct: distinct, rounds: rounds, operations: operations)
          print(
            "hit, \(name), \(count) entries: ours \(Int(result.ours.median)) ns, raw \(Int(result.raw.median)) ns, "
              + "ratio \(text(result.ratio)) (\(text(result.spread.lowerBound)) to \(text(result.spread.upperBound)))"
          )
          if name == "random" { random.append((result.ours.median, result.raw.median)) }
        }
      }
      if let first = random.first, let last = random.last, random.count > 1 {
        print(
          "growth from \(count[0]) to \(count[count.count - 1]) entries: ours \(text(last.ours / first.ours)) x, "
            + "raw \(text(last.raw / first.raw)) x, ratio \(text(last.ours / first.ours / (last.raw / first.raw)))"
        )
      }
    }
  }
}

struct UpkeepBench: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "upkeep", abstract: "Opening, clearing, and purging beside a writer.")

  @OptionGroup var place: Place
  @Option(help: "How many entries are stored.") var count = 1_000_000
  @Option(help: "How many expired entries are purged.") var expired = 500_000

  func run() throws {
    try place.withDirectory { directory in
      let upkeep = try Upkeep(count: count, directory: directory)
      print("open a store of \(count) entries and read one: \(text(try upkeep.open().median)) ms")
      print("clear \(count) entries: \(text(try upkeep.clear())) ms")
      let purge = try Upkeep.purge(count: expired, directory: directory)
      print(
        "purge \(expired) expired entries: \(Int(purge.whole)) ms in \(purge.batches) batches "
          + "(\(text(purge.whole / Double(purge.batches))) ms each with the writer's turn); "
          + "another writer's commit: median \(text(purge.waits.median)) ms, longest \(text(purge.longest)) ms"
      )
      let alone = try Upkeep.purgeAlone(count: expired, directory: directory)
      print("purge \(expired) expired entries with nobody else there: \(Int(alone)) ms")
      let little = try Upkeep.purgeLittle(count: expired, directory: directory)
      print(
        "purge with nothing due among \(expired): \(text(little.idle.median)) us; "
          + "of one namespace's 1000 beside \(expired) due: \(text(little.one)) ms")
    }
  }
}

func text(_ number: Double) -> String { String(format: "%.2f", number) }
