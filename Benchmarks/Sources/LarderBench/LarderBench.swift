import ArgumentParser
import Foundation

@main
struct LarderBench: ParsableCommand {
  @Option(help: "How many entries.") var counts: [Int] = [10_000, 1_000_000]
  @Option(help: "Where the stores are made.") var directory = NSTemporaryDirectory() + "larder-bench"

  @Option(help: "Reads in a round.") var operations = 1_000_000
  @Option(help: "Rounds, of which the median counts.") var rounds = 15

  func run() throws {
    try? FileManager.default.removeItem(atPath: directory)
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    for count in counts {
      let reads = try Reads(count: count, directory: directory)
      for (name, distinct) in [("hot", 1000), ("random", count)] {
        let result = try reads.run(distinct: distinct, rounds: rounds, operations: operations)
        print(
          "hit, \(name), \(count) entries: ours \(Int(result.ours.median)) ns, raw \(Int(result.raw.median)) ns, "
            + "ratio \(String(format: "%.2f (%.2f to %.2f)", result.ratio, result.spread.lowerBound, result.spread.upperBound))")
      }
    }
    try FileManager.default.removeItem(atPath: directory)
  }
}
