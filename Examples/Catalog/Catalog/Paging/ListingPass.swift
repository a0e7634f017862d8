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
  /// The funnels of all pages.
  private var known: Set<String> = []
  /// Whether the service validates every page, fresh or not.
  let asksAlways: Bool

  /// The versions of the pass before this one, which ended with a funnel that was on an earlier page; empty if none did.
  private let doubted: [PageVersion]
  /// Whether the service lists funnels on two pages: two passes had the same versions.
  private var hasRepeats = false

  init(asksAlways: Bool = false, doubted: [PageVersion] = []) {
    (self.asksAlways, self.doubted) = (asksAlways, doubted)
  }

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
  /// A funnel on two pages is a sign of two versions, unless the pages are on record, or a second pass gets them again.
  ///
  /// - Parameter record: the versions that belong together.
  func accepts(_ step: Step, by record: [PageVersion]) -> Bool {
    let isAsked = step.isAsked && steps.allSatisfy(\.isAsked)
    guard repeatsFunnels(step) else { return step.version.isIn(record, at: steps.count) || isAsked }
    let versions = versions(with: step)
    return record.starts(with: versions) || isAsked && (hasRepeats || doubted == versions)
  }

  /// The versions of the pages, and of the next one.
  func versions(with step: Step) -> [PageVersion] { steps.map(\.version) + [step.version] }

  private func repeatsFunnels(_ step: Step) -> Bool {
    !known.isDisjoint(with: step.contents.funnels.map(\.id))
  }

  mutating func append(_ step: Step) {
    hasRepeats = hasRepeats || repeatsFunnels(step)
    known.formUnion(step.contents.funnels.map(\.id))
    steps.append(step)
  }
}

/// Pages that do not belong together.
struct PageMisfit: Error {
  /// Those of the pages, the last of which does not fit the others.
  var versions: [PageVersion]
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
