import Larder
public import Service

/// Reads a catalog page by page, for a list that a user scrolls.
///
/// All pages belong to one version of the catalog: if a page belongs to another version, all are read again, and
/// ``generation`` increases. A change at the service between two requests of one pass is only seen if a funnel appears
/// twice. A service that lists a funnel on two pages is read twice; the first place counts.
public actor CatalogReader {
  private let catalog: Catalog
  private let listing: String
  private var pass = ListingPass()
  private var ahead: Task<ListingPass.Step, any Error>?
  private var current: (request: ReaderRequest, task: Task<Bool, any Error>)?

  private enum ReaderRequest { case more, refresh }

  /// Increases when pages that were read before have changed: the list must be shown again.
  public private(set) var generation = 0

  /// Why the last pages from the service were of no use, so that stored ones stand in; nil if none did.
  public var trouble: ServiceError? { pass.trouble }

  /// The most new passes over a listing that changes while it is read.
  private static let retries = 2

  init(_ catalog: Catalog, limit: Int, isFresh: Bool) {
    self.catalog = catalog
    pass = ListingPass(asksAlways: isFresh)
    listing = catalog.listing(limit: limit)
  }

  /// The pages so far.
  public var contents: CatalogContents { CatalogContents(pass.pages) }
  public var pageCount: Int { pass.steps.count }
  /// How each page was answered; without bodies.
  public var replies: [Reply] { pass.steps.map(\.reply) }
  public var hasMore: Bool { !pass.isAtEnd }

  /// Reads the next page; false if there is none. Concurrent calls share one request.
  ///
  /// If a page before it is no longer fresh, all pages are validated first.
  @discardableResult public func more() async throws -> Bool { try await run(.more) }

  /// Validates all pages that were read, whether they are fresh or not. A concurrent ``more()`` continues after them.
  public func refresh() async throws { _ = try await run(.refresh) }

  /// Call it with the index of a funnel that becomes visible, counted from 0 over all pages. After 80 percent of them the next
  /// page is fetched ahead, one at a time.
  public func shows(_ index: Int) {
    let count = contents.funnels.count
    let isNear = count > 0 && (index + 1) * 5 >= count * 4
    guard isNear, hasMore, ahead == nil, current == nil else { return }
    ahead = Task(priority: .utility) { [catalog, listing, pass] in
      try await catalog.page(of: listing, at: pass.nextCursor(), isAsked: pass.asksAlways)
    }
  }

  /// Waits for the page that is fetched ahead, if any.
  public func settle() async { _ = await ahead?.result }

  /// Runs one request at a time. A call for the request under way shares its result.
  private func run(_ request: ReaderRequest) async throws -> Bool {
    while let current {
      if current.request == request { return try await current.task.value }
      _ = await current.task.result
    }
    let task = Task {
      defer { current = nil }
      switch request {
      case .more: return try await readMore()
      case .refresh: return try await readAgain()
      }
    }
    current = (request, task)
    return try await task.value
  }

  private func readMore() async throws -> Bool {
    if pass.isAtEnd { return false }
    let count = pageCount
    var next = pass
    if !pass.isGood(at: catalog.store.now) {
      await dropAhead()
      next = ListingPass()
    }
    try await read(count + 1, from: next)
    return pageCount > count
  }

  private func readAgain() async throws -> Bool {
    await dropAhead()
    try await read(max(1, pageCount), from: ListingPass(asksAlways: true))
    return true
  }

  /// Replaces the pages by those of `first` and the next ones, once there are as many as wanted.
  private func read(_ wanted: Int, from first: ListingPass) async throws {
    var next = first
    var isInvalid = false
    for _ in 0...Self.retries {
      do {
        if let misfit = try await extend(&next, to: wanted) {
          next = ListingPass(asksAlways: true, doubted: misfit.versions)
        } else {
          if !next.pages.starts(with: pass.pages) { generation += 1 }
          pass = next
          return
        }
      } catch CatalogError.invalidCursor(let message) {
        // The stored pages belong to a listing that the service does not know any more.
        guard !isInvalid else { throw CatalogError.invalidCursor(message) }
        isInvalid = true
        try await catalog.drop(catalog.pagesTag)
        next = ListingPass()
      }
      await dropAhead()
    }
    throw CatalogError.keepsChanging
  }

  /// Drops the page that was fetched ahead: it follows pages of another pass.
  private func dropAhead() async {
    ahead?.cancel()
    await settle()
    ahead = nil
  }

  /// Reads until the pass has this number of pages; a result if one does not fit those before it.
  private func extend(_ next: inout ListingPass, to wanted: Int) async throws -> PageMisfit? {
    while next.steps.count < wanted, !next.isAtEnd {
      let known = await stepAhead(at: try next.nextCursor())
      switch try await catalog.extended(next, of: listing, by: known) {
      case .success(let longer): next = longer
      case .failure(let misfit): return misfit
      }
    }
    return nil
  }

  /// The page that was fetched ahead; nil if it is another one, is not fresh any more, or could not be fetched.
  private func stepAhead(at cursor: String?) async -> ListingPass.Step? {
    guard let task = ahead else { return nil }
    ahead = nil
    guard case .success(let step) = await task.result, step.version.cursor == cursor,
      catalog.store.now < step.goodUntil
    else { return nil }
    return step
  }
}
