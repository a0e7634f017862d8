import Larder
import LarderHTTP
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
  /// Stores what the service lists of a kind, and removes what it no longer lists.
  ///
  /// Entities are removed only if every page agrees on the count, which is not 0, and each entity can be decoded: while a list
  /// changes, its pages may skip some. Elements and part colors have no list. Tasks and processes that refresh a kind at once
  /// share one pass: the report is a stored value, so those that wait for its load get it.
  public func refresh(_ kind: EntityKind, pageSize: Int = 1000) async throws -> RefreshReport {
    if kind.lists.isEmpty {
      throw LarderError(.invalidArgument, "the service has no list of all \(kind.rawValue)")
    }
    let reports = cache.store.cache(of: RefreshReport.self, in: cache.namespace("refreshes").name)
    let options = LoadOptions(policy: .revalidate, expires: .after(.days(1)), waitsForCommit: true)
    let result = try await reports.result(for: kind.rawValue, options: options) {
      try await pass(over: kind.type, pageSize)
    }
    // The report of an earlier pass does not stand in for this one.
    if result.source == .stale, let error = result.error { throw error }
    return result.value
  }

  private func pass<Entity: LegoEntity>(
    over type: Entity.Type, _ pageSize: Int
  ) async throws -> RefreshReport {
    guard let entities = cache.entities(type) else { return RefreshReport() }
    var gone = Set(try entities.keys())
    var report = RefreshReport()
    for list in Entity.kind.lists {
      // A change of the count begins the walk anew, so that the pages belong together.
      let walk = PageWalk<LegoPage<Entity>, String>(
        next: { $0.next.flatMap { $0.isEmpty ? nil : $0 } },
        version: { "\($0.count ?? 0)" },
        fetch: {
          try await service.get(LegoPage<Entity>.self, from: $0 ?? "\(list)?page_size=\(pageSize)")
        }
      )
      var (pages, keys): ([LegoPage<Entity>], Set<Key>) = ([], [])
      for try await element in walk {
        if element.index == 0 { (pages, keys) = ([], []) }
        pages.append(element.page)
        try cache.keep(element.page.results)
        keys.formUnion(element.page.results.map { Key($0.key) })
      }
      report.listed += keys.count
      gone.subtract(keys)
      report.faults += pages.flatMap { $0.skipped ?? [] }.map { "\(list) \($0)" }
      if report.faults.isEmpty, keys.isEmpty || keys.count != pages[0].count {
        report.faults = ["\(list): it is empty, or does not have as many entities as it says"]
      }
      _ = try cache.namespace("pages").remove(prefix: list + "?")
    }
    for key in report.faults.isEmpty ? gone : [] where try await entities.remove(key) {
      report.removed += 1
    }
    return report
  }
}
