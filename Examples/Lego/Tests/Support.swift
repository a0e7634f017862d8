import ExampleTesting
import Foundation
import Larder

@testable import LegoCache

extension Folders {
  /// The sample in the repository.
  static let sample = examples.appending(path: "Lego/Sample").path
}

/// The JSON of `larder-lego import` and `refresh`.
struct Summary: Decodable {
  struct Kind: Decodable {
    var namespace: String
    var tally: ImportReport.Tally
    var held: Int
    var skipped: SkippedRows?
  }
  struct Omitted: Decodable {
    var namespace: String
    var reason: ImportReport.Omission
  }

  var store: String
  var kinds: [Kind]
  var omitted: [Omitted]
  var total: ImportReport.Tally
  var limit: Int?
  var failure: ImportReport.Failure?
}

extension LegoCache {
  /// A cache that is removed with the test.
  static func temporary(
    _ lifetimes: Lifetimes, memory: MemoryTier = .default, clock: ManualClock
  ) throws -> LegoCache {
    LegoCache(try Store.tested(clock: clock), plan: CachePlan(memory: memory, disk: lifetimes))
  }
}

/// The size of a store's file.
func fileSize(_ path: String) throws -> Int {
  try FileManager.default.contentsOfDirectory(atPath: path).reduce(0) { sum, name in
    let facts = try FileManager.default.attributesOfItem(atPath: path + "/" + name)
    return name.hasPrefix("data") ? sum + (facts[.size] as? Int ?? 0) : sum
  }
}
