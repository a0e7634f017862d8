import Larder
import Service
import Synchronization

/// A sync stores the newest unread articles, each as soon as it is fetched. So after any end, even a kill of the process,
/// the next sync continues.
extension ArticleReader {
  /// Begins a sync, or returns the sync under way. A sync sends the user's changes first.
  public func sync(priority: TaskPriority = .utility) throws -> SyncRun {
    try work.withLock { work in
      if let run = work.sync { return run }
      guard try settings().isOn else { throw ArticlesError.off }
      let run = SyncRun(priority: priority) { [self] report in
        defer { self.work.withLock { $0.sync = nil } }
        return await runSync(report)
      }
      work.sync = run
      return run
    }
  }

  /// For the start of a program: a sync in the background if the last sync was more than four hours ago, or never. A last sync
  /// in the future comes from a wrong clock: the next sync waits until four hours after that time.
  public func syncIfDue() throws -> SyncRun? {
    let age = try lastSync()?.moment?.duration(to: storage.store.now)
    guard try settings().isOn, age.map({ $0 > .hours(4) }) ?? true else { return nil }
    return try sync(priority: .background)
  }

  func lastSync() throws -> SyncRecord? { try storage.syncs.value(for: "last sync") }

  private func runSync(_ report: @escaping @Sendable (SyncProgress) -> Void) async -> SyncResult {
    var (result, wanted, requested) = (SyncResult(), [Bookmark](), storage.store.now)
    do {
      result.edits = try await sendEdits()
      requested = storage.store.now
      wanted = try await list(since: requested, &result)
      try await store(wanted, since: requested, &result, report)
    } catch {
      result.isStopped = true
      result.isRefused = (error as? ServiceError)?.isRefusal ?? false
      result.reason = error is CancellationError ? "it was ended" : "\(error)"
    }
    do {
      // The user may have archived or deleted some articles meanwhile.
      let edits = try edits()
      wanted.removeAll { edits.applied(to: $0, since: requested) == nil }
      result.total = wanted.count
      result.kept = try wanted.count { try hasCachedArticle($0.id) }
      if result.stored > 0 || result.outcome == .nothingNew, try lastSync() != nil {
        try await storage.syncs.set(SyncRecord(moment: storage.store.now), for: "last sync")
      }
    } catch {
      result.reason = result.reason ?? "\(error)"
    }
    return result
  }

  /// The articles to store. Removes stored articles that a whole list lacks: they were archived or deleted elsewhere, or are
  /// older. Keeps an article that was stored since the request, and an article with a change that has not arrived.
  private func list(
    since requested: Timestamp, _ result: inout SyncResult
  ) async throws -> [Bookmark] {
    try storage.applySettings()
    let limit = try settings().limit
    guard limit > 0 else { return [] }
    if try lastSync() == nil { try await storage.syncs.set(SyncRecord(), for: "last sync") }
    let list = try await readeck.unread(limit: limit)
    result.unreadable = list.unreadable
    try await noteEdits(in: list, before: requested)
    let (ids, edits) = (Set(list.bookmarks.map(\.id)), try edits())
    for article in list.isWhole ? try storage.list() : [] {
      let id = article.bookmark.id
      guard !ids.contains(id), article.written <= requested,
        edits.changes(id, since: requested).isEmpty
      else { continue }
      try await storage.articles.remove(id)
      result.removed += 1
    }
    return list.bookmarks.prefix(limit).filter {
      $0.hasArticle && edits.applied(to: $0, since: requested) != nil
    }
  }

  private func store(
    _ wanted: [Bookmark], since requested: Timestamp, _ result: inout SyncResult,
    _ report: (SyncProgress) -> Void
  ) async throws {
    let listed = Set(wanted.map(\.id))
    for (number, bookmark) in wanted.enumerated() {
      report(SyncProgress(done: number, total: wanted.count))
      try Task.checkCancellation()
      guard try lastSync() != nil else { throw ArticlesError.ended }
      guard try number < settings().limit else { break }
      if try edits().applied(to: bookmark, since: requested) == nil { continue }
      do {
        let isNew = try await store(bookmark, since: requested, keeping: listed)
        if isNew { result.stored += 1 } else { result.skipped += 1 }
        result.images += try await images(of: bookmark.id)
      } catch {
        guard await !isFinal(error) else { throw error }
        result.failures.append("\(bookmark.name): \(error)")
      }
    }
    report(SyncProgress(done: wanted.count, total: wanted.count))
  }

  /// Fetches and stores an article that is not stored, and removes older articles for it; false if nothing was fetched.
  private func store(
    _ bookmark: Bookmark, since requested: Timestamp, keeping listed: Set<String>
  ) async throws -> Bool {
    while true {
      let loaded = try await load(bookmark.id, keeping: listed, since: requested) { bookmark }
      guard let error = loaded.error else { return loaded.source == .loaded }
      // Removals of articles do not help if other data fill the store.
      guard (error as? LarderError)?.code == .full,
        let oldest = try storage.list().last, bookmark.isNewer(than: oldest.bookmark),
        try storage.articles.namespace.info()?.bytes ?? 0 >= loaded.value.utf8.count
      else { throw error }
      try await storage.articles.remove(oldest.bookmark.id)
    }
  }

  /// Whether the sync cannot continue: the network or the room is gone, the service throttles requests or refuses the user, the
  /// store fails, or the sync was cancelled. If the service lists articles, a failure of one request concerns only the article
  /// of that request.
  private func isFinal(_ error: any Error) async -> Bool {
    switch error {
    case let error as ServiceError where error.status == 429: return true
    case let error as ServiceError where error.isOffline || error.refusesReader:
      return await !readeck.lists()
    case is ServiceError: return false
    case let error as LarderError:
      return ![.overLimit, .invalidArgument, .unencodable, .undecodable].contains(error.code)
    default: return true
    }
  }
}
