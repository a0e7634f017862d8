import Foundation
public import Larder
import Service

/// Lists, page by page. Pages are stored, and their entities are stored under their own keys too.
extension LegoClient {
  /// The first page of a list.
  public func page<Entity>(
    _ list: LegoList<Entity>, policy: RequestPolicy = .standard
  ) async throws -> CacheResult<Listing<Entity>> {
    let address = list.address
    var options = options(for: Entity.kind, policy: policy)
    options.expires = cache?.plan.rules(of: Entity.kind)?.expires
    let loaded = try await loaded(address, in: cache?.pages(of: Entity.self), options) { known in
      let answer = try await answer(
        Listing<Entity>.self, at: address, known: known, decoder: JSONDecoder(part: list.part),
        fault: { $0.results.isEmpty ? $0.skipped?.first : nil })
      guard let (listing, reply) = answer else { return .unchanged }
      return .stored(listing, reply.validators)
    }
    guard var page = loaded else {
      throw LarderError(.notStored, "nothing is stored of \(address)")
    }
    if page.source == .loaded, list.hasEntities {
      // A page whose entities cannot be stored is returned all the same.
      do { try cache?.keep(page.value.results) } catch { page.error = page.error ?? error }
    }
    return page
  }

  /// Makes the cache contain what the service lists of some kinds, one after the other; kinds without a list stay.
  ///
  /// Missing entities are removed after the whole list was read, and only if every page has a count that agrees and is not 0, and each
  /// entity can be decoded: while a list changes, its pages may skip some. Elements have no list, and the colours of parts many.
  ///
  /// Tasks and processes that refresh a kind at once share one pass over its list, and its report.
  ///
  /// Throws ``LegoImport/Stopped``: what came before the failure is stored, and nothing of that kind was removed. Throws
  /// `LarderError` of the code `busy` if an import into the store runs.
  public func refresh(
    _ kinds: [EntityKind], pageSize: Int = 1000,
    progress: @escaping @Sendable (LegoImport.Progress) throws -> Void = { _ in }
  ) async throws -> ImportReport {
    let lock = try cache.flatMap {
      try StoreLock(of: $0.larder, isShared: true, beside: "another import")
    }
    defer { withExtendedLifetime(lock) {} }
    var report = ImportReport()
    // A second pass would report what the first one has changed as unchanged.
    let kinds = EntityKind.allCases.filter(kinds.contains)
    for (place, kind) in kinds.enumerated() {
      do {
        switch kind {
        case .colors: report += try await refresh([.colors], pageSize, progress)
        case .themes: report += try await refresh([.themes], pageSize, progress)
        case .categories: report += try await refresh([.categories], pageSize, progress)
        case .parts: report += try await refresh([.parts], pageSize, progress)
        case .sets: report += try await refresh([.sets, .minifigs], pageSize, progress)
        case .elements, .partColors: report.omissions[kind] = .absent
        }
      } catch let stopped as LegoImport.Stopped {
        report += stopped.report
        for later in kinds[(place + 1)...] { report.omissions[later] = .notBegun }
        throw LegoImport.Stopped(report: report, reason: stopped.reason)
      }
    }
    return report
  }

  /// One pass over the lists of a kind.
  ///
  /// Its report is stored, because a load is shared among the processes of a machine: those that wait for it get the report.
  private func refresh<Entity>(
    _ lists: [LegoList<Entity>], _ pageSize: Int,
    _ progress: @escaping @Sendable (LegoImport.Progress) throws -> Void
  ) async throws -> ImportReport {
    guard let cache, cache.plan.rules(of: Entity.kind) != nil else {
      return ImportReport(omitting: Entity.kind, because: cache == nil ? .absent : .off)
    }
    let options = LoadOptions(policy: .revalidate, expires: .after(.days(1)), waitsForCommit: true)
    let result = try await cache.refreshes.result(for: Entity.kind.word, options: options) {
      try await read(lists, pageSize, into: cache, progress)
    }
    // The report of an earlier pass does not stand in for this one.
    if result.source == .stale, let error = result.error { throw error }
    return result.value
  }

  private func read<Entity>(
    _ lists: [LegoList<Entity>], _ pageSize: Int, into cache: LegoCache,
    _ progress: (LegoImport.Progress) throws -> Void
  ) async throws -> ImportReport {
    var writer = try EntityWriter<Entity>(into: cache, from: .list, isWhole: true)
    var keys: Set<String> = []
    var skipped = SkippedRows()
    do {
      var (counted, isWhole) = (0, true)
      for list in lists {
        var total: Int?
        var walk = PageWalk(from: list.sized(pageSize).address)
        while let address = walk.next {
          let listing = try await service.get(
            Listing<Entity>.self, from: address, decoder: JSONDecoder(part: list.part))
          isWhole = isWhole && listing.count != nil && listing.count == total ?? listing.count
          total = listing.count
          for reason in listing.skipped ?? [] { skipped.add("\(list.path) \(reason)") }
          let new = listing.results.filter { keys.insert($0.key).inserted }
          try writer.write(new.map { DumpRow(entity: $0) })
          try progress(
            LegoImport.Progress(
              kind: Entity.kind, done: keys.count,
              total: max(counted + (listing.count ?? 0), keys.count)))
          try walk.follow(next(after: address, in: listing))
        }
        counted += total ?? 0
        isWhole = isWhole && total != 0
      }
      isWhole = isWhole && keys.count == counted
      if isWhole, skipped.count == 0 { try writer.removeOthers() }
      if !isWhole, skipped.count == 0 {
        skipped.add(
          "\(Entity.kind.word): the list is empty, has changed meanwhile, does not say how many it has, or has not as many as it says"
        )
      }
      for list in lists { try cache.clearPages(of: list) }
    } catch {
      throw LegoImport.Stopped(
        report: ImportReport(of: Entity.kind, writer.tally, skipped, stoppedBy: error),
        reason: error)
    }
    return ImportReport(of: Entity.kind, writer.tally, skipped)
  }

  /// The address of the next page, which may be relative to this one. Without the service's base, unless it is another host's.
  private func next<Entity>(after page: String, in listing: Listing<Entity>) -> String? {
    guard let next = listing.next, !next.isEmpty else { return nil }
    let isWhole = Service.schemeEnd(of: page) != nil
    let known = URL(string: isWhole ? page : service.base + page)
    let address =
      Service.schemeEnd(of: next) == nil
      ? URL(string: next, relativeTo: known)?.absoluteString : next
    guard let address else { return next }
    return service.path(of: address) ?? address
  }
}

/// The addresses of the pages of a list, as each names the next.
struct PageWalk {
  private(set) var next: String?
  private var seen: Set<String> = []
  /// The most pages of a list.
  static let mostPages = 10_000

  init(from first: String) { next = first }

  /// A repeated address is an error, and so is one after ``mostPages``.
  mutating func follow(_ address: String?) throws(ServiceError) {
    if let next { seen.insert(next) }
    if let address, seen.contains(address) {
      throw .undecodable(path: address, reason: "the page after it is one before it")
    }
    if let address, seen.count >= Self.mostPages {
      throw .undecodable(path: address, reason: "the list has more than \(Self.mostPages) pages")
    }
    next = address
  }
}
