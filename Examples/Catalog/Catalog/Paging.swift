import HTTPTypes
import Larder
import LarderHTTP
public import Service
import Synchronization

struct Envelope<Contents: Decodable>: Decodable { var data: Contents }

struct PageVersion: Codable, Sendable, Equatable {
  var cursor: String?
  /// The `ETag`; if the page has none, `Last-Modified`; if it has neither, a digest of the body.
  var validator: String
}

/// A page with its version and its answer without the body.
struct ListedPage: Sendable {
  var contents: CatalogPage
  var version: PageVersion
  var reply: Reply
}

/// The pages of one version of the catalog, beginning with the first page.
public struct CatalogListing: Sendable {
  var pages: [ListedPage] = []

  public var contents: CatalogContents { CatalogContents(pages.map(\.contents)) }
  public var replies: [Reply] { pages.map(\.reply) }
  public var hasMore: Bool { pages.last.map { $0.contents.nextCursor != nil } ?? true }
  var versions: [PageVersion] { pages.map(\.version) }

  /// Each page is a response with its own freshness, and may be replaced while other pages are still fresh. So the pages must
  /// be in the record, or the service must have confirmed, in this read, all pages that the record lacks.
  ///
  /// A funnel on two pages shows that there are two versions.
  func isOneVersion(by record: [PageVersion]) -> Bool {
    if record.starts(with: versions) { return true }
    let known = !record.isEmpty && versions.starts(with: record) ? record.count : 0
    let ids = pages.flatMap(\.contents.funnels).map(\.id)
    return pages.dropFirst(known).allSatisfy { !$0.reply.isHit && !$0.reply.isStale }
      && Set(ids).count == ids.count
  }
}

extension Catalog {
  /// The catalog in one version. The store has a record of the versions of the pages. A task reads the pages inside the load of
  /// this record. The load has a lease, so the tasks of all processes read one after the other, and the next task finds the
  /// pages in the store. If the user signs out during the load, the load stores nothing.
  ///
  /// - Parameters:
  ///   - limit: the number of funnels on a page, at least 1; the service's maximum of 100 replaces higher numbers.
  ///   - isFresh: whether the service validates every page, fresh or not.
  ///   - count: the number of pages to read, beginning with the first page.
  public func all(
    limit: Int = 50, isFresh: Bool = false, pages count: Int = .max
  ) async throws -> CatalogListing {
    guard limit >= 1 else {
      throw LarderError(.invalidArgument, "a page of \(limit) funnels is not possible")
    }
    try await keepFilter()
    let filter = tier.map { "&tier=" + $0.percentEscaped } ?? ""
    let path = "/funnels/catalog?limit=\(min(limit, 100))" + filter
    let options = LoadOptions(policy: .revalidate, waitsForCommit: true)
    let mine = Mutex<CatalogListing?>(nil)
    while true {
      let result = try await listings.result(for: path, options: options) { stored in
        let record = stored?.value ?? []
        let listing = try await read(count, of: path, isFresh, record)
        mine.withLock { $0 = listing }
        return record.starts(with: listing.versions) ? .unchanged : Loaded(listing.versions)
      }
      if let listing = mine.withLock({ $0 }) { return listing }
      // Without a listing, either this task's read failed, or another task had the lease, and this task tries again,
      // also if the other task's record found no room.
      if let result, let error = result.error, result.source != .loaded { throw error }
      // Larder forgets the other task's load in a task of its own, which may need this thread.
      await Task.yield()
    }
  }

  /// Reads up to three times, until all pages are of one version: first through the cache, then with a validation of each page.
  /// A walk over the pages begins again, once, if the service no longer knows a cursor.
  private func read(
    _ count: Int, of path: String, _ isFresh: Bool, _ record: [PageVersion]
  ) async throws -> CatalogListing {
    for asks in isFresh ? [true, true] : [false, true, true] {
      let read = Mutex(0)
      let walk = PageWalk<ListedPage, String>(
        next: { page in
          // A walk that begins again also counts its pages again: only the first page has no cursor.
          let number = read.withLock { read in
            read = page.version.cursor == nil ? 1 : read + 1
            return read
          }
          return number < count ? page.contents.nextCursor : nil
        },
        isInvalidCursor: { $0 is InvalidCursor },
        fetch: { try await page(path, at: $0, asks) })
      let listing = CatalogListing(pages: try await walk.all())
      if listing.isOneVersion(by: record) { return listing }
    }
    throw LarderError(.busy, "the catalog changes faster than it can be read")
  }

  private func page(_ path: String, at cursor: String?, _ asks: Bool) async throws -> ListedPage {
    let address = path + (cursor.map { "&cursor=" + $0.percentEscaped } ?? "")
    var reply = try await send(
      address, fields: asks ? [.cacheControl: "no-cache"] : [:], tags: [Self.pagesTag])
    let contents = try await service.decoded(Envelope<CatalogPage>.self, from: reply).data
    let validator =
      reply.fields[.eTag] ?? reply.fields[.lastModified]
      ?? Secrets.digest(reply.text, in: listings.namespace.store)
    reply.body = []
    let version = PageVersion(cursor: cursor, validator: validator)
    return ListedPage(contents: contents, version: version, reply: reply)
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

  /// - Parameter limit: as in ``Catalog/all(limit:isFresh:pages:)``.
  public init(_ catalog: Catalog, limit: Int = 50) { (self.catalog, self.limit) = (catalog, limit) }

  public var contents: CatalogContents { listing.contents }
  public var pageCount: Int { listing.pages.count }

  /// Reads the next page. Returns false after the last page. Earlier pages come from the store, and are validated if not fresh.
  @discardableResult public func more() async throws -> Bool {
    guard listing.hasMore else { return false }
    await settle()
    let count = pageCount
    try await read(count + 1, isFresh: false)
    return pageCount > count
  }

  /// Validates all pages that were read before, even if they are fresh.
  public func refresh() async throws { try await read(max(1, pageCount), isFresh: true) }

  private func read(_ count: Int, isFresh: Bool) async throws {
    let next = try await catalog.all(limit: limit, isFresh: isFresh, pages: count)
    if !next.versions.starts(with: listing.versions) { generation += 1 }
    listing = next
  }

  /// Call this method with the index of a funnel that becomes visible, counted from 0 over all pages. After 80 percent of the
  /// funnels, the reader fetches the next page into the store before it is needed, one page at a time.
  public func shows(_ index: Int) {
    let (count, pages) = (contents.funnels.count, pageCount)
    guard count > 0, (index + 1) * 5 >= count * 4, listing.hasMore, ahead == nil else { return }
    ahead = Task(priority: .utility) { [catalog, limit] in
      _ = try await catalog.all(limit: limit, pages: pages + 1)
    }
  }

  /// Waits for a page that is being fetched ahead, if there is one.
  public func settle() async {
    _ = await ahead?.result
    ahead = nil
  }
}
