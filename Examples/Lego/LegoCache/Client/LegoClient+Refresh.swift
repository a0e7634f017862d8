import Foundation
import Larder
import Service

/// What a pass over the list of a kind did.
public struct RefreshReport: Codable, Sendable, Equatable {
  /// The entities that the service lists; all are stored now.
  public var listed = 0
  /// The stored entities that it no longer listed.
  public var removed = 0
  /// The entities that cannot be decoded, or why the list is not whole. With any, nothing was removed.
  public var faults: [String] = []
}

extension LegoClient {
  /// Makes the cache contain what the service lists of a kind.
  ///
  /// Missing entities are removed after the whole list was read, and only if every page has a count that agrees and is not 0,
  /// and each entity can be decoded: while a list changes, its pages may skip some. If the service fails, what came before is
  /// stored, and nothing is removed. Elements have no list, and the colours of parts many: an error.
  ///
  /// Tasks and processes that refresh a kind at once share one pass over its list, and its report.
  ///
  /// - Parameter progress: called after each page with the number of entities so far, and of all.
  public func refresh(
    _ kind: EntityKind, pageSize: Int = 1000,
    progress: @escaping @Sendable (_ done: Int, _ total: Int) throws -> Void = { _, _ in }
  ) async throws -> RefreshReport {
    switch kind {
    case .colors: try await refresh([.colors], pageSize, progress)
    case .themes: try await refresh([.themes], pageSize, progress)
    case .categories: try await refresh([.categories], pageSize, progress)
    case .parts: try await refresh([.parts], pageSize, progress)
    case .sets: try await refresh([.sets, .minifigs], pageSize, progress)
    case .elements, .partColors:
      throw LarderError(.invalidArgument, "the service has no list of all \(kind.word)")
    }
  }

  /// The report is stored, because a load is shared among the processes of a machine: those that wait for it get the report.
  private func refresh<Entity>(
    _ lists: [LegoList<Entity>], _ pageSize: Int,
    _ progress: @escaping @Sendable (_ done: Int, _ total: Int) throws -> Void
  ) async throws -> RefreshReport {
    guard let cache, let entities = cache.entities(Entity.self) else { return RefreshReport() }
    let options = LoadOptions(policy: .revalidate, expires: .after(.days(1)), waitsForCommit: true)
    let result = try await cache.refreshes.result(for: Entity.kind.word, options: options) {
      let known = try Self.keys(of: entities.namespace)
      var report = RefreshReport()
      let listed = try await read(lists, pageSize, into: cache, &report, progress)
      if report.faults.isEmpty {
        report.removed = try Self.remove(known.subtracting(listed), from: entities.namespace)
      }
      for list in lists { try cache.clearPages(of: list) }
      return report
    }
    // The report of an earlier pass does not stand in for this one.
    if result.source == .stale, let error = result.error { throw error }
    return result.value
  }

  /// Stores the entities of some lists page by page, and returns their keys.
  private func read<Entity>(
    _ lists: [LegoList<Entity>], _ pageSize: Int, into cache: LegoCache,
    _ report: inout RefreshReport, _ progress: (_ done: Int, _ total: Int) throws -> Void
  ) async throws -> Set<Key> {
    var keys: Set<Key> = []
    var (counted, isWhole) = (0, true)
    for list in lists {
      var total: Int?
      var walk = PageWalk(from: list.sized(pageSize).address)
      while let address = walk.next {
        let listing = try await service.get(
          Listing<Entity>.self, from: address, decoder: JSONDecoder(part: list.part))
        isWhole = isWhole && listing.count != nil && listing.count == total ?? listing.count
        total = listing.count
        report.faults += (listing.skipped ?? []).map { "\(list.path) \($0)" }
        try cache.keep(listing.results)
        keys.formUnion(listing.results.map { Key($0.key) })
        try progress(keys.count, max(counted + (listing.count ?? 0), keys.count))
        try walk.follow(next(after: address, in: listing))
      }
      counted += total ?? 0
      isWhole = isWhole && total != 0
    }
    report.listed = keys.count
    if report.faults.isEmpty, !isWhole || keys.count != counted {
      report.faults = [
        "\(Entity.kind.word): the list is empty, has changed meanwhile, does not say how many it has, or has not as many as it says"
      ]
    }
    return keys
  }

  private static func keys(of namespace: Store.Namespace) throws -> Set<Key> {
    var keys: Set<Key> = []
    try namespace.scan { entry, _ in
      if !entry.isNegative { keys.insert(entry.key) }
      return true
    }
    return keys
  }

  /// Removes entities, not too many in a transaction; returns their number.
  private static func remove(_ keys: Set<Key>, from namespace: Store.Namespace) throws -> Int {
    var (gone, removed) = (keys.sorted()[...], 0)
    while !gone.isEmpty {
      let some = gone.prefix(1000)
      removed += try namespace.store.write { batch in
        try some.count { try batch.remove($0, from: namespace) }
      }
      gone = gone.dropFirst(some.count)
    }
    return removed
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
