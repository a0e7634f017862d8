import Service

/// Reads a catalog page by page, as somebody scrolls through it.
///
/// What it shows is always of one version: if a page turns out to be of another one than those before it, all are brought up
/// to date, and ``generation`` says so. A change at the service between two requests of one way through cannot be told
/// from no change, unless a funnel shows up twice.
public actor CatalogReader {
  private let catalog: Catalog
  private let listing: String
  private var pass = ListingPass()
  private var record: ListingRecord?
  private var ahead: Task<ListingPass.Step, any Error>?
  private var loading: Task<Bool, any Error>?

  /// How often what was read before was replaced: who shows it shows all of it anew.
  public private(set) var generation = 0

  /// How often a listing that changes while it is read is begun again.
  private static let patience = 2

  init(_ catalog: Catalog, limit: Int) {
    self.catalog = catalog
    listing = catalog.listing(limit: limit)
  }

  /// What was read so far.
  public var contents: CatalogContents { CatalogContents(pass.pages) }
  public var pageCount: Int { pass.steps.count }
  public var hasMore: Bool { !pass.isAtEnd }

  /// Reads the next page; false if there is none. Whoever calls it meanwhile waits for the same page.
  @discardableResult
  public func more() async throws -> Bool {
    if let loading { return try await loading.value }
    if pass.isAtEnd { return false }
    let task = Task { try await self.readMore() }
    loading = task
    defer { loading = nil }
    return try await task.value
  }

  /// To be told which funnel has come into view, counted from 0 over all that were read: past four fifths the next page is
  /// fetched ahead, one at a time.
  public func shows(_ index: Int) {
    let count = pass.pages.reduce(0) { $0 + $1.funnels.count }
    guard count > 0, (index + 1) * 5 >= count * 4, hasMore, ahead == nil, loading == nil else {
      return
    }
    ahead = Task(priority: .utility) { [catalog, listing, pass] in
      try await catalog.page(of: listing, at: pass.nextCursor(), isAsked: pass.asksAlways)
    }
  }

  /// Waits until what is fetched ahead is there, if anything is.
  public func settle() async { _ = await ahead?.result }

  /// Forgets the first page, and reads again as much as was read.
  public func refresh() async throws {
    while let loading { _ = await loading.result }
    try await catalog.service.forget(listing)
    try await read(max(1, pageCount), from: Way())
  }

  /// A way through the pages that takes the place of the one before when it has come as far as is wanted.
  private struct Way {
    var pass = ListingPass()
    var record: ListingRecord?
  }

  private func readMore() async throws -> Bool {
    try await read(pageCount + 1, from: Way(pass: pass, record: record))
    return true
  }

  private func read(_ wanted: Int, from first: Way) async throws {
    var way = first
    var isAnew = first.pass.steps.count < pass.steps.count
    var isInvalid = false
    for _ in 0...Self.patience {
      do {
        if try await go(on: &way, to: wanted) {
          (pass, record) = (way.pass, way.record)
          if isAnew { generation += 1 }
          return
        }
        way = Way(pass: ListingPass(asksAlways: true))
      } catch CatalogError.invalidCursor(let message) {
        // The service knows nothing of where this was: what is kept of the listing is worth nothing.
        guard !isInvalid else { throw CatalogError.invalidCursor(message) }
        isInvalid = true
        try await catalog.dropPages()
        way = Way()
      }
      isAnew = !pass.steps.isEmpty
      ahead?.cancel()
      ahead = nil
    }
    throw CatalogError.keepsChanging
  }

  /// Reads on to so many pages; false if one does not fit those before it.
  private func go(on way: inout Way, to wanted: Int) async throws -> Bool {
    while way.pass.steps.count < wanted, !way.pass.isAtEnd {
      guard try await advance(&way) else { return false }
    }
    return true
  }

  private func advance(_ way: inout Way) async throws -> Bool {
    var record = try way.record ?? catalog.record(of: listing)
    let cursor = try way.pass.nextCursor()
    var step = try await next(at: cursor, isAsked: way.pass.asksAlways)
    var verdict = way.pass.verdict(on: step, in: record)
    if verdict != .fits, !step.isAsked, way.pass.steps.allSatisfy(\.isAsked) {
      // It is the only one that was not asked about.
      step = try await catalog.page(of: listing, at: cursor, isAsked: true)
      verdict = way.pass.verdict(on: step, in: record)
    }
    guard verdict == .fits else { return false }
    let before = record
    record.set(step.record, at: way.pass.steps.count)
    way.pass.append(step)
    way.record = record
    if record != before { try catalog.keep(record, of: listing) }
    return true
  }

  private func next(at cursor: String?, isAsked: Bool) async throws -> ListingPass.Step {
    if let task = ahead {
      ahead = nil
      // What failed ahead is tried again now that somebody waits for it.
      if case .success(let step) = await task.result, step.record.cursor == cursor { return step }
    }
    return try await catalog.page(of: listing, at: cursor, isAsked: isAsked)
  }
}
