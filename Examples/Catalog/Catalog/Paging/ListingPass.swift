import HTTPTypes
import Larder
import LarderHTTP
import Service

/// One pass over the pages of a listing, from the first.
struct ListingPass: Sendable {
  struct Step: Sendable {
    var contents: CatalogPage
    var record: ListingRecord.Page
    /// Whether the service validated it in this pass.
    var isAsked: Bool
    /// The end of its freshness.
    var goodUntil: Timestamp
    /// Why the service's answer is of no use, so that this is the stored page.
    var trouble: ServiceError?
  }

  enum Verdict: Equatable {
    case fits
    /// It may belong to another version than the pages before it.
    case isDoubtful
    /// A page before it has one of its funnels: the versions differ.
    case contradicts
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
    guard let cursor = last.contents.pagination.nextCursor else { throw .missingCursor }
    guard !steps.contains(where: { $0.record.cursor == cursor }) else {
      throw .repeatedCursor(cursor)
    }
    guard steps.count < CatalogError.mostPages else { throw .tooManyPages }
    return cursor
  }

  func verdict(on step: Step, in record: ListingRecord) -> Verdict {
    let known = Set(steps.flatMap(\.contents.funnels).map(\.id))
    let own = step.contents.funnels.map(\.id)
    if Set(own).count < own.count || own.contains(where: known.contains) { return .contradicts }
    if record.names(step.record, at: steps.count) { return .fits }
    return step.isAsked && steps.allSatisfy(\.isAsked) ? .fits : .isDoubtful
  }

  mutating func append(_ step: Step) { steps.append(step) }
}

extension Catalog {
  /// The pass with its next page; nil if that does not fit the pages before it.
  ///
  /// The page and its record are stored in one turn, so that other processes find both.
  ///
  /// - Parameter known: the page, if it was fetched ahead.
  func extended(
    _ pass: ListingPass, of listing: String, by known: ListingPass.Step?
  ) async throws -> ListingPass? {
    let cursor = try pass.nextCursor()
    return try await inTurn(path(of: listing, at: cursor)) { [self] in
      var record = try record(of: listing)
      var step: ListingPass.Step
      if let known {
        step = known
      } else {
        // A service that has just failed is not asked about what is fresh.
        let isAsked = pass.asksAlways && pass.trouble == nil
        step = try await page(of: listing, at: cursor, isAsked: isAsked)
      }
      var verdict = pass.verdict(on: step, in: record)
      if verdict != .fits, !step.isAsked, pass.steps.allSatisfy(\.isAsked) {
        // It is the only page that was not validated.
        step = try await page(of: listing, at: cursor, isAsked: true)
        verdict = pass.verdict(on: step, in: record)
      }
      guard verdict == .fits else {
        // No other answer can be had now that fits the pages before it.
        if let trouble = step.trouble { throw trouble }
        return nil
      }
      let before = record
      record.set(step.record, at: pass.steps.count)
      if record != before { try keep(record, of: listing) }
      var longer = pass
      longer.append(step)
      return longer
    }
  }

  /// The path of the first page.
  func listing(limit: Int) -> String {
    "/funnels/catalog?limit=\(limit)" + (tier.map { "&tier=" + $0.percentEscaped } ?? "")
  }

  private func path(of listing: String, at cursor: String?) -> String {
    listing + (cursor.map { "&cursor=" + $0.percentEscaped } ?? "")
  }

  /// A page from the service, or the stored one while it is fresh.
  func page(
    of listing: String, at cursor: String?, isAsked: Bool
  ) async throws -> ListingPass.Step {
    let path = path(of: listing, at: cursor)
    let question: HTTPFields = isAsked ? [.cacheControl: "no-cache"] : [:]
    var trouble: ServiceError?
    let (envelope, reply) = try await service.get(Envelope<CatalogPage>.self, from: path) { extra in
      do {
        return try await read(path, tags: [pagesTag], fields: extra ?? question)
      } catch let error as ServiceError
        where !error.isRefusal && (!error.isUnusable || extra != nil)
      {
        // An unusable answer is requested once more first.
        guard let stored = try await stored(path) else { throw error }
        trouble = error
        return stored
      }
    }
    let validator = reply.fields[.eTag] ?? reply.fields[.lastModified]
    return ListingPass.Step(
      contents: envelope.data,
      record: ListingRecord.Page(cursor: cursor, validator: validator),
      isAsked: !reply.isHit && !reply.isStale,
      goodUntil: now.advanced(by: Self.validity(of: reply)), trouble: trouble)
  }

  /// The stored answer while it is fresh: a stale one must not be served without a validation (`must-revalidate`).
  private func stored(_ path: String) async throws -> Reply? {
    do {
      return try await read(path, fields: [.cacheControl: "only-if-cached"])
    } catch ServiceError.refused(status: 504, _) {
      return nil
    }
  }

  /// The shortest time that a page counts as fresh. Otherwise a long catalog with a short freshness would be validated from its
  /// first page again and again.
  private static let shortest = Duration.seconds(60)

  private static func validity(of reply: Reply) -> Duration {
    guard let remaining = reply.remaining, remaining > 0 else { return shortest }
    let age = reply.isHit ? reply.age ?? 0 : 0
    return max(.seconds(remaining), shortest - .seconds(age))
  }

  var now: Timestamp { cache.namespace.store.now }

  private func record(of listing: String) throws -> ListingRecord {
    try listings.value(for: "\(user) \(listing)") ?? ListingRecord()
  }

  /// Stores nothing after a sign-out, or where there is no room: the pages are then validated again.
  private func keep(_ record: ListingRecord, of listing: String) throws {
    var attributes = EntryAttributes()
    attributes.tags = [userTag, pagesTag]
    do {
      _ = try session.write { batch in
        try batch.set(record, for: "\(user) \(listing)", in: listings, attributes)
      }
    } catch let error as LarderError where error.code == .full {}
  }
}
