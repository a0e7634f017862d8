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
  private var underWay: (errand: Errand, task: Task<Bool, any Error>)?

  private enum Errand { case more, refresh }

  /// How often what was read before turned out to be something else: who shows it shows all of it anew.
  public private(set) var generation = 0

  /// How often a listing that changes while it is read is begun again.
  private static let lockTimeout = 2

  init(_ catalog: Catalog, limit: Int) {
    self.catalog = catalog
    listing = catalog.listing(limit: limit)
  }

  /// What was read so far.
  public var contents: CatalogContents { CatalogContents(pass.pages) }
  public var pageCount: Int { pass.steps.count }
  public var hasMore: Bool { !pass.isAtEnd }

  /// Reads the next page; false if there is none. Whoever calls it meanwhile waits for the same page.
  ///
  /// If a page of those before is past its freshness, and it is a minute since the service was asked for it, all are brought
  /// up to date first.
  @discardableResult
  public func more() async throws -> Bool { try await run(.more) }

  /// Forgets the first page, and reads again as much as was read. Whoever asks for more meanwhile gets what follows that.
  public func refresh() async throws { _ = try await run(.refresh) }

  /// To be told which funnel has come into view, counted from 0 over all that were read: past four fifths the next page is
  /// fetched ahead, one at a time.
  public func shows(_ index: Int) {
    let count = pass.pages.reduce(0) { $0 + $1.funnels.count }
    let isNear = count > 0 && (index + 1) * 5 >= count * 4
    guard isNear, hasMore, ahead == nil, underWay == nil else { return }
    ahead = Task(priority: .utility) { [catalog, listing, pass] in
      try await catalog.page(of: listing, at: pass.nextCursor(), isAsked: pass.asksAlways)
    }
  }

  /// Waits until what is fetched ahead is there, if anything is.
  public func settle() async { _ = await ahead?.result }

  /// One errand at a time: who wants the one that is under way has its outcome, who wants the other waits for its end.
  private func run(_ errand: Errand) async throws -> Bool {
    while let underWay {
      if underWay.errand == errand { return try await underWay.task.value }
      _ = await underWay.task.result
    }
    let task = Task {
      // Before anybody who has waited goes on.
      defer { underWay = nil }
      switch errand {
      case .more: return try await readMore()
      case .refresh: return try await readAgain()
      }
    }
    underWay = (errand, task)
    return try await task.value
  }

  /// A way through the pages that takes the place of the one before when it has come as far as is wanted.
  private struct Way {
    var pass = ListingPass()
    var record: ListingRecord?
  }

  private func readMore() async throws -> Bool {
    if pass.isAtEnd { return false }
    let count = pageCount
    var way = Way(pass: pass, record: record)
    if !pass.isGood(at: catalog.now) {
      await dropAhead()
      way = Way()
    }
    try await read(count + 1, from: way)
    return pageCount > count
  }

  private func readAgain() async throws -> Bool {
    await dropAhead()
    try await catalog.forget(listing)
    try await read(max(1, pageCount), from: Way())
    return true
  }

  private func read(_ wanted: Int, from first: Way) async throws {
    var way = first
    var isInvalid = false
    for _ in 0...Self.lockTimeout {
      do {
        if try await go(on: &way, to: wanted) {
          if !way.pass.pages.starts(with: pass.pages) { generation += 1 }
          (pass, record) = (way.pass, way.record)
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
      await dropAhead()
    }
    throw CatalogError.keepsChanging
  }

  /// What was fetched ahead follows pages that are no longer meant. Nothing of it is to come later either.
  private func dropAhead() async {
    ahead?.cancel()
    await settle()
    ahead = nil
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
      if case .success(let step) = await task.result, step.record.cursor == cursor,
        catalog.now < step.goodUntil
      {
        return step
      }
    }
    return try await catalog.page(of: listing, at: cursor, isAsked: isAsked)
  }
}
