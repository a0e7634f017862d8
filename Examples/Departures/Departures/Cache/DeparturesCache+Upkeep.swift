import Larder

/// The size and the counters of a namespace.
public struct ShelfUsage: Sendable, Codable {
  public var shelf: String
  public var entries: Int
  public var bytes: Int
  public var hits: UInt64
  /// The hits in memory.
  public var memory: UInt64
  /// Reads of stale values.
  public var stale: UInt64
  public var misses: UInt64
  /// Nil before the first read.
  public var hitRate: Double?
}

extension DeparturesCache {
  /// The namespaces with entries or reads, for all processes since the counters were reset.
  public func usage() throws -> [ShelfUsage] {
    let namespaces = try store.statistics().namespaces
    return Shelf.allCases.compactMap { shelf in
      namespaces.first { $0.info.name == shelf.name }.map { namespace in
        ShelfUsage(
          shelf: shelf.rawValue, entries: namespace.info.entries, bytes: namespace.info.bytes,
          hits: namespace.reads.hits, memory: namespace.reads.memoryHits,
          stale: namespace.reads.staleHits, misses: namespace.reads.misses,
          hitRate: namespace.reads.hitRate)
      }
    }
  }

  /// Removes everything but the settings.
  public func clear() throws {
    for shelf in Shelf.allCases where shelf != .settings {
      try store.namespace(shelf.name).clear()
    }
  }
}
