import HTTPTypes
import Larder
import LarderHTTP
import Service

extension Catalog {
  /// The pass with its next page; a failure if that does not fit the pages before it.
  ///
  /// The page and its version are stored in one turn, so that other processes find both.
  ///
  /// - Parameter ahead: the page, if it was fetched ahead.
  func extended(
    _ pass: ListingPass, of listing: String, by ahead: ListingPass.Step?
  ) async throws -> Result<ListingPass, PageMisfit> {
    let cursor = try pass.nextCursor()
    return try await inTurn(path(of: listing, at: cursor)) { [self] in
      let session = try session()
      let record = try listings.value(for: "\(owner) \(listing)") ?? []
      var step: ListingPass.Step
      if let ahead {
        step = ahead
      } else {
        // A service that has just failed is not asked about what is fresh.
        let isAsked = pass.asksAlways && pass.trouble == nil
        step = try await page(of: listing, at: cursor, isAsked: isAsked)
      }
      if !pass.accepts(step, by: record), !step.isAsked, pass.steps.allSatisfy(\.isAsked) {
        // It is the only page that was not validated.
        step = try await page(of: listing, at: cursor, isAsked: true)
      }
      guard pass.accepts(step, by: record) else {
        // No other answer can be had now that fits the pages before it.
        if let trouble = step.trouble { throw trouble }
        return .failure(PageMisfit(versions: pass.versions(with: step)))
      }
      if cursor == nil, step.trouble == nil { try await keepFilter(in: session) }
      if !step.version.isIn(record, at: pass.steps.count) {
        // Pages after another version of this one are removed from the record.
        try keep(record.prefix(pass.steps.count) + [step.version], of: listing, in: session)
      }
      var longer = pass
      longer.append(step)
      return .success(longer)
    }
  }

  /// Stores nothing after the session, or where there is no room: the pages are then validated again.
  private func keep(_ record: [PageVersion], of listing: String, in session: String?) throws {
    var attributes = EntryAttributes()
    attributes.tags = [userTag, pagesTag]
    _ = try ifRoom {
      try store.write { batch in
        guard try batch.value(for: owner, in: sessions) == session else { return }
        try batch.set(record, for: "\(owner) \(listing)", in: listings, attributes)
      }
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
    var (envelope, reply) = try await service.get(Envelope<CatalogPage>.self, from: path) { extra in
      do {
        return try await send(path, fields: extra ?? question, tags: [pagesTag])
      } catch let error as ServiceError
        where !error.isRefusal && (!error.isUnusable || extra != nil)
      {
        // An unusable answer is requested once more first.
        guard let stored = try await stored(path) else { throw error }
        trouble = error
        return stored
      }
    }
    let validator =
      reply.fields[.eTag] ?? reply.fields[.lastModified]
      ?? Secrets.digest(String(decoding: reply.body, as: UTF8.self), in: store)
    reply.body = []
    return ListingPass.Step(
      contents: envelope.data, version: PageVersion(cursor: cursor, validator: validator),
      reply: reply, goodUntil: store.now.advanced(by: Self.validity(of: reply)), trouble: trouble)
  }

  /// The stored answer while it is fresh: a stale one must not be served without a validation (`must-revalidate`).
  private func stored(_ path: String) async throws -> Reply? {
    do {
      return try await send(path, fields: [.cacheControl: "only-if-cached"])
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
}
