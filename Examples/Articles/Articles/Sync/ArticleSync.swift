import Larder
import LarderHTTP
import Service

/// Stores the newest unread articles.
///
/// Each article is stored as soon as it was fetched, so after any end, even a kill of the process, the next sync continues.
struct ArticleSync: Sendable {
  let loader: ArticleLoader
  let outbox: Outbox
  let report: @Sendable (SyncProgress) -> Void

  private var storage: ArticleStore { loader.storage }

  func run() async -> SyncResult {
    var result = SyncResult()
    var (ids, refusal) = ([String](), SyncRecord.Refusal?.none)
    do {
      try await run(&result, &ids, &refusal)
    } catch {
      result.isStopped = true
      result.isRefused = (error as? ServiceError)?.isRefusal ?? false
      result.reason = error is CancellationError ? "it was ended" : "\(error)"
    }
    do {
      result.kept = try ids.count { try storage.has($0) }
      let isSuccess = result.stored > 0 || result.outcome == .nothingNew
      try storage.endSync(isSuccess: isSuccess, refusal: refusal)
    } catch {
      result.reason = result.reason ?? "\(error)"
    }
    return result
  }

  private func run(
    _ result: inout SyncResult, _ ids: inout [String], _ refusal: inout SyncRecord.Refusal?
  ) async throws {
    result.edits = try await outbox.send()
    try storage.applySettings()
    let limit = try storage.limit()
    guard limit > 0 else { return }
    try await storage.beginSync()
    let listed = try await loader.readeck.unread(limit: limit)
    result.unreadable = listed.unreadable
    try await storage.noteEdits(in: listed.bookmarks)
    // Those that wait to be archived or deleted are gone for the user.
    let hidden = try outbox.hidden()
    let wanted = listed.bookmarks.prefix(limit).filter { $0.hasArticle && !hidden.contains($0.id) }
    ids = wanted.map(\.id)
    result.total = wanted.count
    let listedIDs = Set(ids)
    // Articles that are not newer than this one have no room.
    var last: Bookmark?
    for (number, bookmark) in wanted.enumerated() {
      report(progress(number, result, bookmark.name))
      try Task.checkCancellation()
      guard try storage.syncRecord() != nil else { throw ArticlesError.ended }
      guard try number < storage.limit() else { break }
      do {
        if let stored = try storage.article(bookmark.id), !stored.isEdited {
          result.skipped += 1
        } else if try last.map({ !bookmark.isNewer(than: $0) }) ?? isRefused(bookmark) {
          last = last ?? bookmark
          refusal = try refusal ?? self.refusal(of: bookmark)
          result.withoutRoom += 1
          continue
        } else {
          switch try await store(bookmark, keeping: listedIDs, &last) {
          case .fetched: result.stored += 1
          case .present: result.skipped += 1
          case .withoutRoom(let error):
            result.reason = result.reason ?? "\(error)"
            (last, refusal) = (bookmark, try self.refusal(of: bookmark))
            result.withoutRoom += 1
            continue
          }
        }
        let images = try await loader.images(of: bookmark.id)
        result.images += images.fetched
        result.imagesLeftOut += images.leftOut
      } catch {
        guard try await !isFinal(error) else { throw error }
        result.failures.append("\(bookmark.name): \(error)")
      }
    }
    if result.withoutRoom > 0 {
      result.reason = result.reason ?? "the store has no room for \(result.withoutRoom) articles"
    }
    report(progress(wanted.count, result, nil))
  }

  private enum Storing {
    case fetched
    /// Another process has fetched and stored it meanwhile.
    case present
    case withoutRoom(LarderError)
  }

  /// Fetches and stores an article. If there is no room, removes others; `last` is then the newest listed one of them.
  private func store(
    _ bookmark: Bookmark, keeping listed: Set<String>, _ last: inout Bookmark?
  ) async throws -> Storing {
    while true {
      let loaded = try await loader.html(of: bookmark, keeping: listed)
      guard let failure = loaded.error else {
        return loaded.source == .loaded ? .fetched : .present
      }
      guard let error = failure as? LarderError, [.full, .overLimit].contains(error.code) else {
        throw failure
      }
      guard let oldest = try await storage.removeOldest(for: bookmark, keeping: listed) else {
        return .withoutRoom(error)
      }
      if listed.contains(oldest.id), last?.isNewer(than: oldest) != true { last = oldest }
    }
  }

  private func refusal(of bookmark: Bookmark) throws -> SyncRecord.Refusal {
    SyncRecord.Refusal(
      id: bookmark.id, updated: bookmark.updated, articles: try storage.articles.count(),
      limits: String(Secrets.digest("\(try storage.store.limits().effective)").prefix(8)))
  }

  /// Whether an earlier sync found no room for the article, and nothing has changed since.
  private func isRefused(_ bookmark: Bookmark) throws -> Bool {
    try storage.syncRecord()?.refusal == refusal(of: bookmark)
  }

  /// Whether the sync cannot go on: the network is gone, the service refuses this user or all requests, the store fails, or
  /// the sync was cancelled. An exchange that was interrupted concerns the article alone if the service answers another
  /// request.
  private func isFinal(_ error: any Error) async throws -> Bool {
    switch error {
    case ServiceError.unreachable, ServiceError.throttled,
      ServiceError.refused(status: 401, _), ServiceError.refused(status: 403, _):
      return true
    case ServiceError.interrupted:
      return try await !loader.readeck.answers()
    default:
      return error is LarderError || error is CancellationError
        || (error as? ArticlesError) == .ended
    }
  }

  private func progress(_ done: Int, _ result: SyncResult, _ title: String?) -> SyncProgress {
    SyncProgress(
      done: done, total: result.total, title: title, stored: result.stored, failed: result.failed)
  }
}
