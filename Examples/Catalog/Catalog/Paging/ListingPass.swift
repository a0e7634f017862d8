import HTTPTypes
import Larder
import LarderHTTP
import Service

/// One way through the pages of a listing, from the first on.
struct ListingPass: Sendable {
  struct Step: Sendable {
    var contents: CatalogPage
    var record: ListingRecord.Page
    /// Whether the service was asked about it in this pass, and answered.
    var isAsked: Bool
    /// Until when it tells what the service has.
    var goodUntil: Timestamp
  }

  enum Verdict: Equatable {
    case fits
    /// It may be of another version than the pages before it.
    case isDoubtful
    /// One of its funnels is on a page before it: they are not of one version.
    case contradicts
  }

  private(set) var steps: [Step] = []
  /// Whether the service is asked about each page, be it fresh.
  let asksAlways: Bool

  init(asksAlways: Bool = false) { self.asksAlways = asksAlways }

  var pages: [CatalogPage] { steps.map(\.contents) }
  var isAtEnd: Bool { steps.last.map { !$0.contents.pagination.hasMore } ?? false }

  /// Whether what was read so far is still what the service has, as far as can be told without asking.
  func isGood(at now: Timestamp) -> Bool { steps.allSatisfy { now < $0.goodUntil } }

  /// Where the next page is; nil for the first. Throws if the pages would never end.
  func nextCursor() throws(CatalogError) -> String? {
    guard let last = steps.last else { return nil }
    guard let cursor = last.contents.pagination.nextCursor else { throw .missingCursor }
    guard !steps.contains(where: { $0.record.cursor == cursor }) else {
      throw .repeatedCursor(cursor)
    }
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
  /// What all pages of a listing have in common.
  func listing(limit: Int) -> String {
    "/funnels/catalog?limit=\(limit)" + (tier.map { "&tier=" + $0.percentEscaped } ?? "")
  }

  func page(
    of listing: String, at cursor: String?, isAsked: Bool
  ) async throws -> ListingPass.Step {
    let path = listing + (cursor.map { "&cursor=" + $0.percentEscaped } ?? "")
    let reply = try await read(path, tags: [pagesTag], isAsked: isAsked)
    let validator = reply.fields[.eTag] ?? reply.fields[.lastModified]
    return ListingPass.Step(
      contents: try reply.decoded(Envelope<CatalogPage>.self).data,
      record: ListingRecord.Page(cursor: cursor, validator: validator),
      isAsked: !reply.isHit && !reply.isStale,
      goodUntil: now.advanced(by: Self.lockTimeout(with: reply)))
  }

  /// For how long a page is good at least after the service was asked for it, and one that stands in for what cannot be had:
  /// where all are fresh for less than it takes to read them, all would be asked for again with each that follows.
  private static let shortest = Duration.seconds(60)

  private static func lockTimeout(with reply: Reply) -> Duration {
    guard let remaining = reply.remaining, remaining > 0 else { return shortest }
    let age = reply.isHit ? reply.age ?? 0 : 0
    return max(.seconds(remaining), shortest - .seconds(age))
  }

  var now: Timestamp { cache.namespace.store.now }

  func record(of listing: String) throws -> ListingRecord {
    try listings.value(for: "\(user) \(listing)") ?? ListingRecord()
  }

  /// After the user has signed out nothing is kept, nor where there is no room: the pages are then asked about again.
  func keep(_ record: ListingRecord, of listing: String) throws {
    var attributes = EntryAttributes()
    attributes.tags = [userTag, pagesTag]
    do {
      _ = try session.write { batch in
        try batch.set(record, for: "\(user) \(listing)", in: listings, attributes)
      }
    } catch let error as LarderError where error.code == .full {}
  }
}
