import HTTPTypes
import Larder
import LarderHTTP
public import Service
import Synchronization

/// The wrapper of every answer.
struct Envelope<Contents: Decodable>: Decodable { var data: Contents }

/// A page of a listing in one version.
struct PageVersion: Codable, Sendable, Equatable {
  /// Nil for the first page.
  var cursor: String?
  /// The `ETag`, or `Last-Modified` without one; without both a digest of the body.
  var validator: String
}

/// A page with its version and the answer that it came with, without the body.
struct ListedPage: Sendable {
  var contents: CatalogPage
  var version: PageVersion
  var reply: Reply

  /// Whether the service sent or confirmed it just now.
  var isAsked: Bool { !reply.isHit && !reply.isStale }
}

/// Pages of one version of the catalog, from the first.
public struct CatalogListing: Sendable {
  var pages: [ListedPage] = []
  /// Why the last answers of the service were of no use, so that stored pages stand in; nil if none did.
  public internal(set) var trouble: ServiceError?

  public var contents: CatalogContents { CatalogContents(pages.map(\.contents)) }
  public var replies: [Reply] { pages.map(\.reply) }
  public var hasMore: Bool { pages.last.map { $0.contents.nextCursor != nil } ?? true }

  /// Each page is a response with its own freshness, and may be replaced while others are still fresh. So pages belong together only
  /// if the record of the listing has them, if the service confirmed all of them in this pass, or if those after the record are new.
  ///
  /// A funnel on two pages is a sign of two versions, unless a second pass gets the same pages again.
  func isOneVersion(by record: [PageVersion], doubted: [PageVersion]?) -> Bool {
    let versions = pages.map(\.version)
    if record.starts(with: versions) { return true }
    let isLonger = !record.isEmpty && versions.starts(with: record)
    let ids = pages.flatMap(\.contents.funnels).map(\.id)
    return pages.dropFirst(isLonger ? record.count : 0).allSatisfy(\.isAsked)
      && (Set(ids).count == ids.count || versions == doubted)
  }
}

extension Catalog {
  /// The most pages of a listing, 50,000 funnels of the default size of a page.
  static let mostPages = 1_000

  /// All of the catalog, of one version.
  ///
  /// - Parameters:
  ///   - limit: funnels on a page, at least 1; the service's maximum of 100 replaces higher numbers.
  ///   - isFresh: whether the service validates every page, fresh or not.
  ///   - progress: called with the number of pages so far.
  public func all(
    limit: Int = 50, isFresh: Bool = false,
    progress: @escaping @Sendable (Int) -> Void = { _ in }
  ) async throws -> CatalogListing {
    try await listing(.max, limit: limit, isFresh: isFresh, progress)
  }

  /// The first pages of the catalog, read in one process and task at a time: the next one finds them in the store. The load of the
  /// record has that lease; a sign-out during it wins, so that nothing is stored.
  func listing(
    _ count: Int, limit: Int, isFresh: Bool,
    _ progress: @escaping @Sendable (Int) -> Void = { _ in }
  ) async throws -> CatalogListing {
    guard limit >= 1 else { throw CatalogError.limit(limit) }
    let filter = tier.map { "&tier=" + $0.percentEscaped } ?? ""
    let path = "/funnels/catalog?limit=\(min(limit, 100))" + filter
    let options = LoadOptions(policy: .revalidate, tags: tags, waitsForCommit: true)
    let mine = Box()
    while true {
      let result = try await listings.revalidatedResult(for: "\(owner) \(path)", options: options) {
        let record = $0?.value ?? []
        let listing = try await read(count, of: path, isFresh, record, progress)
        mine.listing.withLock { $0 = listing }
        let versions = listing.pages.map(\.version)
        return record.starts(with: versions) ? .unchanged : .value(versions)
      }
      if let listing = mine.listing.withLock({ $0 }) { return listing }
      // Another task had the lease, or this one failed beside a record.
      if let error = result?.error { throw error }
    }
  }

  private final class Box: Sendable { let listing = Mutex<CatalogListing?>(nil) }

  /// Reads until all pages are of one version: through the cache at first, then with a question about each page.
  private func read(
    _ count: Int, of path: String, _ isFresh: Bool, _ record: [PageVersion],
    _ progress: (Int) -> Void
  ) async throws -> CatalogListing {
    var (asks, isRestarted, trouble) = (isFresh, false, nil as ServiceError?)
    var doubted: [PageVersion]?
    for _ in 0...3 {
      do {
        var listing = try await pass(count, of: path, asks: asks, progress)
        listing.trouble = trouble
        if listing.isOneVersion(by: record, doubted: doubted) { return listing }
        if let trouble { throw trouble }
        (asks, doubted) = (true, listing.pages.map(\.version))
      } catch CatalogError.invalidCursor(let message) {
        // The stored pages belong to a listing that the service does not know any more.
        guard !isRestarted else { throw CatalogError.invalidCursor(message) }
        (asks, isRestarted) = (false, true)
        try await drop(pagesTag)
      } catch let error as ServiceError where asks && trouble == nil && !error.isRefusal {
        // Stored pages stand in while they are fresh.
        (asks, trouble) = (false, error)
      }
    }
    throw CatalogError.keepsChanging
  }

  private func pass(
    _ count: Int, of path: String, asks: Bool, _ progress: (Int) -> Void
  ) async throws -> CatalogListing {
    var listing = CatalogListing()
    while listing.hasMore, listing.pages.count < count {
      let cursor = listing.pages.last?.contents.nextCursor
      if cursor == "" { throw CatalogError.endless("a page has no cursor for the next one") }
      if cursor != nil, listing.pages.contains(where: { $0.version.cursor == cursor }) {
        throw CatalogError.endless("the cursor \(cursor ?? "") came twice")
      }
      if listing.pages.count == Self.mostPages {
        throw CatalogError.endless("it has more than \(Self.mostPages) pages")
      }
      let page = try await page(path, at: cursor, asks: asks)
      if cursor == nil { try await keepFilter() }
      listing.pages.append(page)
      progress(listing.pages.count)
    }
    return listing
  }

  private func page(_ path: String, at cursor: String?, asks: Bool) async throws -> ListedPage {
    let address = path + (cursor.map { "&cursor=" + $0.percentEscaped } ?? "")
    let question: HTTPFields = asks ? [.cacheControl: "no-cache"] : [:]
    var (envelope, reply) = try await service.get(Envelope<CatalogPage>.self, from: address) {
      try await send(address, fields: $0 ?? question, tags: [pagesTag])
    }
    let validator =
      reply.fields[.eTag] ?? reply.fields[.lastModified]
      ?? Secrets.digest(String(decoding: reply.body, as: UTF8.self), in: cache.namespace.store)
    reply.body = []
    let version = PageVersion(cursor: cursor, validator: validator)
    return ListedPage(contents: envelope.data, version: version, reply: reply)
  }
}

/// Reads a catalog page by page, for a list that a user scrolls. All pages belong to one version of the catalog.
public actor CatalogReader {
  private let catalog: Catalog
  private let limit: Int
  private var listing = CatalogListing()
  private var ahead: Task<Void, any Error>?

  /// Increases when pages that were read before have changed: the list must be shown again.
  public private(set) var generation = 0

  /// - Parameter limit: see ``Catalog/all(limit:isFresh:progress:)``.
  public init(_ catalog: Catalog, limit: Int = 50) { (self.catalog, self.limit) = (catalog, limit) }

  /// The pages so far.
  public var contents: CatalogContents { listing.contents }
  public var pageCount: Int { listing.pages.count }

  /// Reads the next page; false if there is none. The pages before it come from the store, or are validated if they are not fresh.
  @discardableResult public func more() async throws -> Bool {
    guard listing.hasMore else { return false }
    await settle()
    let count = pageCount
    try await read(count + 1, isFresh: false)
    return pageCount > count
  }

  /// Validates all pages that were read, whether they are fresh or not.
  public func refresh() async throws { try await read(max(1, pageCount), isFresh: true) }

  private func read(_ count: Int, isFresh: Bool) async throws {
    let next = try await catalog.listing(count, limit: limit, isFresh: isFresh)
    if next.pages.count < pageCount
      || !next.pages.map(\.version).starts(with: listing.pages.map(\.version))
    {
      generation += 1
    }
    listing = next
  }

  /// Call it with the index of a funnel that becomes visible, counted from 0 over all pages. After 80 percent of them the next
  /// page is fetched into the store ahead, one at a time.
  public func shows(_ index: Int) {
    let (count, pages) = (contents.funnels.count, pageCount)
    guard count > 0, (index + 1) * 5 >= count * 4, listing.hasMore, ahead == nil else { return }
    ahead = Task(priority: .utility) { [catalog, limit] in
      _ = try await catalog.listing(pages + 1, limit: limit, isFresh: false)
    }
  }

  /// Waits for the page that is fetched ahead, if any.
  public func settle() async {
    _ = await ahead?.result
    ahead = nil
  }
}
