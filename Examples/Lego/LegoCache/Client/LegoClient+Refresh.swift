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

  /// Makes the cache contain what the service lists of some kinds, one after the other; kinds without a list stay.
  ///
  /// Missing entities are removed after the whole list was read, and only if every page's count agrees and is not 0, and each
  /// entity can be decoded: while a list changes, its pages may skip some. Elements have no list, and the colours of parts many.
  ///
  /// Throws ``LegoImport/Stopped``: what came before the failure is stored, and nothing of that kind was removed.
  public func refresh(
    _ kinds: [EntityKind], pageSize: Int = 1000, progress: (Step) throws -> Void = { _ in }
  ) async throws -> ImportReport {
    var report = ImportReport()
    for (place, kind) in kinds.enumerated() {
      do {
        switch kind {
        case .colors: try await refresh([.colors], pageSize, progress, &report)
        case .themes: try await refresh([.themes], pageSize, progress, &report)
        case .categories: try await refresh([.categories], pageSize, progress, &report)
        case .parts: try await refresh([.parts], pageSize, progress, &report)
        case .sets: try await refresh([.sets, .minifigs], pageSize, progress, &report)
        case .elements, .partColors: report.omissions[kind] = .absent
        }
      } catch {
        for later in kinds[(place + 1)...] { report.omissions[later] = .notBegun }
        throw LegoImport.Stopped(report: report, reason: error)
      }
    }
    return report
  }

  /// The same for one kind; returns the changes, or nil for a kind that has no list or is not stored.
  ///
  /// - Parameter progress: called with the number of entities so far and in all.
  public func refresh(
    _ kind: EntityKind, pageSize: Int = 1000,
    progress: (_ done: Int, _ total: Int) throws -> Void = { _, _ in }
  ) async throws -> ImportReport.Tally? {
    do {
      return try await refresh([kind], pageSize: pageSize) { try progress($0.done, $0.total) }
        .tallies[kind]
    } catch let stopped as LegoImport.Stopped {
      throw stopped.reason
    }
  }

  private func refresh<Entity>(
    _ lists: [LegoList<Entity>], _ pageSize: Int, _ progress: (Step) throws -> Void,
    _ report: inout ImportReport
  ) async throws {
    guard let cache, let rules = cache.plan.rules(of: Entity.kind) else {
      report.omissions[Entity.kind] = cache == nil ? .absent : .off
      return
    }
    let codec = JSONCodec<Entity>()
    var load = try KindImport(Entity.kind, into: cache, rules: rules, batch: 1000)
    load.stale = cache.plan.staleness(of: Entity.kind)
    load.merge = { stored, new in
      try codec.decode(stored.span).isDetail(like: codec.decode(new.span)) ? nil : new
    }
    var keys: Set<String> = []
    var skipped = SkippedRows()
    var (counted, isWhole) = (0, true)
    var failure: (any Error)?
    do {
      for list in lists {
        var total: Int?
        var walk = PageWalk(from: list.sized(pageSize).address)
        while let address = walk.next {
          let listing = try await fetch(address, of: list)
          isWhole = isWhole && listing.count == total ?? listing.count
          total = listing.count
          for reason in listing.skipped ?? [] { skipped.add("\(list.path) \(reason)") }
          for entity in listing.results where keys.insert(entity.key).inserted {
            _ = try load.add(entity.key, try codec.encode(entity))
          }
          try progress(
            Step(
              kind: Entity.kind, done: keys.count, total: max(counted + listing.count, keys.count)))
          try walk.follow(listing.next.map(own))
        }
        counted += total ?? 0
        isWhole = isWhole && total != 0
      }
    } catch {
      failure = error
    }
    do {
      try load.finish(
        removing: failure == nil && isWhole && skipped.count == 0 && keys.count == counted)
      if failure == nil { for list in lists { try cache.clearPages(under: list.path) } }
    } catch {
      failure = failure ?? error
    }
    report.tallies[Entity.kind] = load.tally
    if skipped.count > 0 { report.skipped[Entity.kind] = skipped }
    guard let failure else { return }
    report.failure = ImportReport.Failure(
      kind: Entity.kind, imported: load.tally.read, reason: "\(failure)")
    throw failure
  }
}
