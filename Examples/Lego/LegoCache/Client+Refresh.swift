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
  /// The most pages of a list.
  static let mostPages = 10_000

  /// Stores what the service lists of a kind, and removes what it no longer lists.
  ///
  /// Entities are removed only if every page agrees on the count, which is not 0, and each entity can be decoded: while a list
  /// changes, its pages may skip some. If the service fails, what came before is stored. Elements and part colors have no list.
  /// Tasks and processes that refresh a kind at once share one pass.
  ///
  /// - Parameter progress: called after each page with the number of entities so far, and of all.
  public func refresh(
    _ kind: EntityKind, pageSize: Int = 1000,
    progress: @escaping @Sendable (_ done: Int, _ total: Int) throws -> Void = { _, _ in }
  ) async throws -> RefreshReport {
    if kind.lists.isEmpty {
      throw LarderError(.invalidArgument, "the service has no list of all \(kind.rawValue)")
    }
    return try await refresh(kind.type, pageSize, progress)
  }

  /// The report is stored, because a load is shared among the processes of a machine: those that wait for it get the report.
  private func refresh<Entity: LegoEntity>(
    _ type: Entity.Type, _ pageSize: Int, _ progress: @escaping @Sendable (Int, Int) throws -> Void
  ) async throws -> RefreshReport {
    guard let cache, let entities = cache.entities(type) else { return RefreshReport() }
    let reports = cache.larder.cache(
      of: RefreshReport.self, in: cache.namespace("lego.refreshes").name)
    let options = LoadOptions(policy: .revalidate, expires: .after(.days(1)), waitsForCommit: true)
    let result = try await reports.result(for: Entity.kind.rawValue, options: options) {
      var gone = Set(try entities.keys())
      var report = RefreshReport()
      var (counted, isWhole) = (0, true)
      for list in Entity.kind.lists {
        var (total, seen): (Int?, Set<String>) = (nil, [])
        var next: String? = list + "?page_size=\(pageSize)"
        while let address = next {
          guard seen.insert(address).inserted, seen.count <= Self.mostPages else {
            throw ServiceError.undecodable(
              path: address, reason: "the list repeats a page, or has more than \(Self.mostPages)")
          }
          let page = try await service.get(LegoPage<Entity>.self, from: address)
          isWhole = isWhole && page.count != nil && page.count == total ?? page.count
          total = page.count
          report.faults += (page.skipped ?? []).map { "\(list) \($0)" }
          try cache.store(page.results)
          report.listed += page.results.count
          gone.subtract(page.results.map { Key($0.key) })
          let known = counted.addingReportingOverflow(total ?? 0)
          try progress(
            report.listed, known.overflow ? .max : max(known.partialValue, report.listed))
          next = page.next.flatMap { $0.isEmpty ? nil : follow($0, from: address) }
        }
        counted = counted.addingReportingOverflow(total ?? 0).partialValue
        isWhole = isWhole && total != 0
        _ = try cache.namespace("lego.pages").remove(prefix: list + "?")
      }
      if report.faults.isEmpty, !isWhole || report.listed != counted {
        report.faults = [
          "\(Entity.kind.rawValue): the list is empty, has changed meanwhile, or does not have as many entities as it says"
        ]
      }
      for key in report.faults.isEmpty ? gone : [] where try await entities.remove(key) {
        report.removed += 1
      }
      return report
    }
    // The report of an earlier pass does not stand in for this one.
    if result.source == .stale, let error = result.error { throw error }
    return result.value
  }

  /// The address of the next page, which may be relative to this one.
  private func follow(_ next: String, from address: String) -> String {
    let here = URL(string: Service.schemeEnd(of: address) == nil ? service.base + address : address)
    let whole = URL(string: next, relativeTo: here)?.absoluteString ?? next
    return service.path(of: whole) ?? whole
  }
}
