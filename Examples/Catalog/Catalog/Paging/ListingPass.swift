import Larder
import Service

/// One pass over the pages of a listing, from the first.
///
/// Each page is a response with its own freshness, and may be replaced while others are still fresh. Pages are combined only if
/// the store has their versions as a record of pages that belong together, or if the service validated all of them in this pass.
struct ListingPass: Sendable {
  struct Step: Sendable {
    var contents: CatalogPage
    var version: PageVersion
    /// Without its body.
    var reply: Reply
    /// The end of its freshness.
    var goodUntil: Timestamp
    /// Why the service's answer is of no use, so that this is the stored page.
    var trouble: ServiceError?

    /// Whether the service validated it in this pass.
    var isAsked: Bool { !reply.isHit && !reply.isStale }
  }

  private(set) var steps: [Step] = []
  /// Whether the service validates every page, fresh or not.
  let asksAlways: Bool

  init(asksAlways: Bool = false) { self.asksAlways = asksAlways }

  var pages: [CatalogPage] { steps.map(\.contents) }
  var isAtEnd: Bool { steps.last.map { !$0.contents.pagination.hasMore } ?? false }

  /// Why stored pages stand in for the service's; nil if none does.
  var trouble: ServiceError? { steps.lazy.compactMap(\.trouble).last }

  /// Whether all pages so far are fresh.
  func isGood(at now: Timestamp) -> Bool { steps.allSatisfy { now < $0.goodUntil } }

  /// The cursor of the next page; nil for the first. Throws if the pages would never end.
  func nextCursor() throws(CatalogError) -> String? {
    guard let last = steps.last else { return nil }
    guard let cursor = last.contents.pagination.nextCursor, !cursor.isEmpty else {
      throw .missingCursor
    }
    guard !steps.contains(where: { $0.version.cursor == cursor }) else {
      throw .repeatedCursor(cursor)
    }
    guard steps.count < CatalogError.mostPages else { throw .tooManyPages }
    return cursor
  }

  /// Whether a page is of the same version as the pages before it.
  ///
  /// - Parameter record: the versions that belong together.
  func accepts(_ step: Step, by record: [PageVersion]) -> Bool {
    let known = Set(steps.flatMap(\.contents.funnels).map(\.id))
    let own = step.contents.funnels.map(\.id)
    guard known.isDisjoint(with: own) else { return false }
    return step.version.isIn(record, at: steps.count)
      || step.isAsked && steps.allSatisfy(\.isAsked)
  }

  mutating func append(_ step: Step) { steps.append(step) }
}

/// A page of a listing in one version.
struct PageVersion: Codable, Sendable, Equatable {
  /// Nil for the first page.
  var cursor: String?
  /// The `ETag`, or `Last-Modified` without one; without both a digest of the body.
  var validator: String

  func isIn(_ record: [PageVersion], at index: Int) -> Bool {
    record.indices.contains(index) && record[index] == self
  }
}
