import Larder
import Service

/// Refreshes whole lists; removes entities that the service no longer has.
extension LegoClient {
  /// The progress of a refresh.
  public struct Step: Sendable {
    public var kind: EntityKind
    /// Entities of this kind so far.
    public var done: Int
    /// The service's count.
    public var total: Int
  }

  /// Refreshes several kinds, one after the other; kinds without a list stay.
  public func refresh(
    _ kinds: [EntityKind], pageSize: Int = 1000, progress: (Step) throws -> Void = { _ in }
  ) async throws -> ImportReport {
    var report = ImportReport()
    for kind in kinds {
      var skipped = SkippedRows()
      let tally = try await refresh(
        kind, pageSize: pageSize,
        progress: { try progress(Step(kind: kind, done: $0, total: $1)) },
        skipped: { skipped.add($0) })
      if let tally {
        report.tallies[kind] = tally
        if skipped.count > 0 { report.skipped[kind] = skipped }
      } else {
        let isOff = cache.map { $0.plan.rules(of: kind) == nil } ?? false
        report.omissions[kind] = isOff ? .off : .absent
      }
    }
    return report
  }

  /// Makes the cache contain what the service lists of a kind, and returns the changes; nil for a kind that has no
  /// list or is not stored.
  ///
  /// Missing entities are removed after the whole list was read, and only if every page's count agrees, and is not 0: while a
  /// list changes, its pages may skip some. Elements have no list, and the colours of parts many.
  ///
  /// - Parameters:
  ///   - progress: called with the number of entities so far and in all.
  ///   - skipped: called with each entity that cannot be decoded, and the reason. If there is one, nothing is removed.
  public func refresh(
    _ kind: EntityKind, pageSize: Int = 1000,
    progress: (_ done: Int, _ total: Int) throws -> Void = { _, _ in },
    skipped: (String) -> Void = { _ in }
  ) async throws -> ImportReport.Tally? {
    switch kind {
    case .colors: try await refresh([.colors], pageSize, progress, skipped)
    case .themes: try await refresh([.themes], pageSize, progress, skipped)
    case .categories: try await refresh([.categories], pageSize, progress, skipped)
    case .parts: try await refresh([.parts], pageSize, progress, skipped)
    case .sets: try await refresh([.sets, .minifigs], pageSize, progress, skipped)
    case .elements, .partColors: nil
    }
  }

  private func refresh<Entity>(
    _ lists: [LegoList<Entity>], _ pageSize: Int,
    _ progress: (_ done: Int, _ total: Int) throws -> Void, _ skipped: (String) -> Void
  ) async throws -> ImportReport.Tally? {
    guard let cache, let rules = cache.plan.rules(of: Entity.kind) else { return nil }
    let codec = JSONCodec<Entity>()
    var load = try KindImport(Entity.kind, into: cache, rules: rules, batch: 1000)
    load.stale = cache.plan.staleness(of: Entity.kind)
    load.merge = { stored, new in
      try codec.decode(stored.span).isDetail(like: codec.decode(new.span)) ? nil : new
    }
    var keys: Set<String> = []
    var (counted, isWhole) = (0, true)
    for list in lists {
      var total: Int?
      var walk = PageWalk(from: list.sized(pageSize).address)
      while let address = walk.next {
        let listing = try await fetch(address, of: list)
        isWhole =
          isWhole && listing.skipped == nil && listing.count == total ?? listing.count
        total = listing.count
        for reason in listing.skipped ?? [] { skipped("\(list.path) \(reason)") }
        for entity in listing.results where keys.insert(entity.key).inserted {
          _ = try load.add(entity.key, try codec.encode(entity))
        }
        try progress(keys.count, max(counted + listing.count, keys.count))
        try walk.follow(listing.next.map(own))
      }
      counted += total ?? 0
      isWhole = isWhole && total != 0
    }
    try load.finish(removing: isWhole && keys.count == counted)
    for list in lists { try cache.clearPages(under: list.path) }
    return load.tally
  }
}
