import ExampleTesting

@testable import LegoCache

extension Folders {
  /// The sample in the repository.
  static let sample = examples.appending(path: "Lego/Sample").path
}

extension LegoCache {
  /// A cache that is removed with the test.
  static func temporary(
    _ lifetimes: Lifetimes, memory: MemoryTier = .default, clock: ManualClock
  ) throws -> LegoCache {
    LegoCache(try Store.tested(clock: clock), plan: CachePlan(memory: memory, disk: lifetimes))
  }
}

extension JSON {
  /// Without members that are null: they count as absent.
  init(_ data: Data) throws { self = try JSONDecoder().decode(JSON.self, from: data).compact }
  init(encoding value: some Encodable) throws { try self.init(JSONEncoder().encode(value)) }

  func without(_ names: Set<String>) -> JSON {
    guard case .object(let members) = self else { return self }
    return .object(members.filter { !names.contains($0.key) })
  }

  private var compact: JSON {
    switch self {
    case .array(let values): .array(values.map(\.compact))
    case .object(let members): .object(members.filter { $0.value != .null }.mapValues(\.compact))
    default: self
    }
  }
}

/// The size of a store's file.
func fileSize(_ path: String) throws -> Int {
  try FileManager.default.contentsOfDirectory(atPath: path).reduce(0) { sum, name in
    let facts = try FileManager.default.attributesOfItem(atPath: path + "/" + name)
    return name.hasPrefix("data") ? sum + (facts[.size] as? Int ?? 0) : sum
  }
}
