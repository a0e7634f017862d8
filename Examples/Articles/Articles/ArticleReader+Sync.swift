import Larder
import Service
import Synchronization

/// A sync stores the newest unread articles one by one. If a sync is stopped, even by a kill, the next sync continues its work.
extension ArticleReader {
  /// Starts a sync, or returns the sync that already runs. A sync sends the user's changes first.
  public func sync(priority: TaskPriority = .utility) throws -> SyncRun {
    try work.withLock { work in
      if let run = work.sync { return run }
      guard try settings().isOn else { throw ArticlesError.off }
      let (steps, reports) = AsyncStream<SyncRun.Step>.makeStream()
      let task = Task(priority: priority) { [self] in
        let result = await runSync(reports)
        self.work.withLock { $0.sync = nil }
        reports.finish()
        return result
      }
      let run = SyncRun(steps: steps, task: task)
      work.sync = run
      return run
    }
  }

  /// For the start of a program: starts a sync in the background if the last sync was more than four hours ago, or if there was
  /// none. If the time of the last sync is in the future, the clock was wrong, and no sync starts.
  public func syncIfDue() throws -> SyncRun? {
    let age = try usage().lastSync?.duration(to: store.now)
    guard try settings().isOn, age.map({ $0 > .hours(4) }) ?? true else { return nil }
    return try sync(priority: .background)
  }

  private func runSync(_ reports: AsyncStream<SyncRun.Step>.Continuation) async -> SyncResult {
    var (result, wanted, requested) = (SyncResult(), [Bookmark](), store.now)
    do {
      // A sign-out removes the record. So the record is made only here, before the first request.
      let made: Void? = try await unless(.full) {
        guard try settings().limit > 0 else { return }
        try await syncs.setIfAbsent([], for: "last sync")
      }
      result.edits = try await sendEdits()
      requested = store.now
      if made == nil { throw LarderError(.full, "there is no room for the record of syncs") }
      wanted = try await list(since: requested, &result)
      try await fetch(wanted, since: requested, &result, reports)
    } catch { result.error = error }
    do {
      // The user may have archived or deleted some of these articles during the sync, so they are not counted.
      let edits = try edits()
      wanted.removeAll { edits.applied(to: $0, since: requested) == nil }
      result.total = wanted.count
      result.kept = try wanted.count { try hasCachedArticle($0.id) }
      let isComplete = result.skipped > 0 && result.skipped >= result.total
      if result.stored > 0 || isComplete || result.outcome == .nothingNew {
        // The task of a cancelled sync also writes this time, so the write is synchronous and ignores the cancellation.
        try store.write { batch in
          // After a sign-out, nothing may be stored.
          guard try batch.entry(for: "last sync", in: syncs.namespace) != nil else { return }
          try batch.set([store.now], for: "last sync", in: syncs)
        }
      }
    } catch { result.error = result.error ?? error }
    return result
  }

  /// The articles to store. If the list is complete, removes stored articles that the list does not contain. But keeps articles
  /// that were fetched after the request, and articles with a change that is possibly not in the service yet.
  private func list(
    since requested: Timestamp, _ result: inout SyncResult
  ) async throws -> [Bookmark] {
    try applySettings()
    let limit = try settings().limit
    guard limit > 0 else { return [] }
    guard try syncs.contains("last sync") else { throw ArticlesError.ended }
    let list = try await readeck.unread(limit: limit)
    result.unreadable = list.unreadable
    try await noteEdits(in: list, before: requested)
    let (ids, edits) = (Set(list.bookmarks.map(\.id)), try edits())
    for article in list.isWhole ? try storedArticles() : [] {
      let id = article.bookmark.id
      guard !ids.contains(id), !(article.requested > requested && article.requested <= store.now),
        edits.changes(of: id, since: requested).isEmpty
      else { continue }
      try await articles.remove(id)
      result.removed += 1
    }
    return list.bookmarks.prefix(limit).filter {
      $0.hasArticle && edits.applied(to: $0, since: requested) != nil
    }
  }

  private func fetch(
    _ wanted: [Bookmark], since requested: Timestamp, _ result: inout SyncResult,
    _ reports: AsyncStream<SyncRun.Step>.Continuation
  ) async throws {
    let listed = Set(wanted.map(\.id))
    for (number, bookmark) in wanted.enumerated() {
      reports.yield((number, wanted.count))
      try Task.checkCancellation()
      guard try syncs.contains("last sync") else { throw ArticlesError.ended }
      guard try number < settings().limit else { break }
      if try edits().applied(to: bookmark, since: requested) == nil { continue }
      do {
        var loaded = try await load(bookmark.id, keeping: listed, since: requested) { bookmark }
        // If the store itself is full, removes older articles, provided that all stored HTML is at least as large as this HTML.
        while (loaded.error as? LarderError)?.code == .full, let oldest = try storedArticles().last,
          bookmark.isNewer(than: oldest.bookmark),
          try articles.namespace.info()?.bytes ?? 0 >= loaded.value.utf8.count
        {
          try await articles.remove(oldest.bookmark.id)
          loaded = try await load(bookmark.id, keeping: listed, since: requested) { bookmark }
        }
        if let error = loaded.error { throw error }
        if loaded.source == .loaded { result.stored += 1 } else { result.skipped += 1 }
        // Images need more room than HTML. So if an image finds no room, the sync goes on, but without images.
        guard result.error == nil else { continue }
        do {
          result.images += try await fetchImages(of: bookmark.id)
        } catch let error as LarderError where error.code == .full {
          result.error = error
        }
      } catch {
        guard await !isFinal(error) else { throw error }
        result.failures.append("\(bookmark.name): \(error)")
      }
    }
    reports.yield((wanted.count, wanted.count))
  }

  /// Whether the error ends the sync. If the service can still list articles, a failed request affects only its own article. An
  /// article that is larger than the limit of one value, or has such an image, also fails alone.
  func isFinal(_ error: any Error) async -> Bool {
    guard let error = error as? ServiceError else {
      return (error as? LarderError)?.code != .overLimit
    }
    guard error.isOffline || error.refusesReader else { return error.status == 429 }
    return await !readeck.lists()
  }
}

/// A running sync. Any number of tasks can wait for its result or cancel the sync.
public struct SyncRun: Sendable {
  public typealias Step = (done: Int, total: Int)

  /// The progress of the sync. Only one task can iterate over this stream, and only once.
  public let steps: AsyncStream<Step>
  let task: Task<SyncResult, Never>

  public func result() async -> SyncResult { await task.value }

  /// Stops the sync. The articles that the sync has stored stay.
  public func cancel() { task.cancel() }
}

public struct SyncResult: Sendable {
  public enum Outcome: String, Sendable {
    case done, partial, failed
    case nothingNew = "nothing new"
  }

  /// The number of articles that were fetched, or were found unchanged.
  public var stored = 0
  public var skipped = 0
  public var failures: [String] = []
  public var failed: Int { failures.count }
  /// The number of articles in the list of the service, without those that the user archived or deleted during the sync.
  public var total = 0
  /// The number of articles in ``total`` that are stored at the end.
  public var kept = 0
  /// The number of stored articles that were removed because the service no longer lists them.
  public var removed = 0
  public var images = 0
  /// The listed bookmarks that could not be decoded, with the reasons.
  public var unreadable: [String] = []
  public var edits = OutboxReport()
  /// The error that ended the sync early, or the reason why images found no room; nil without such an error.
  public var error: (any Error)?

  public var outcome: Outcome {
    switch (stored > 0, failed > 0 || error != nil || kept < total) {
    case (true, false): .done
    case (true, true): .partial
    case (false, false): .nothingNew
    case (false, true): .failed
    }
  }

  /// A text such as `18 of 20 articles: partial`.
  public var text: String { "\(kept) of \(total) articles: \(outcome.rawValue)" }
}
