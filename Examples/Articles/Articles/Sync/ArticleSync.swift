import Larder
import LarderHTTP
import Service

/// Stores the newest unread articles.
///
/// Each article is stored as soon as it was fetched, so after any end, even a kill of the process, the next sync continues.
struct ArticleSync: Sendable {
  let fetch: ArticleFetch
  let outbox: Outbox
  let report: @Sendable (SyncProgress) -> Void

  private var shelf: ArticleShelf { fetch.shelf }

  func run() async -> SyncResult {
    var result = SyncResult()
    var (ids, refusal) = ([String](), SyncMark.Refusal?.none)
    do {
      try await run(&result, &ids, &refusal)
    } catch {
      result.isStopped = true
      if case ServiceError.refused(401...403, _) = error { result.isRefused = true }
      result.reason = error is CancellationError ? "it was ended" : "\(error)"
    }
    do {
      result.kept = try ids.count { try shelf.has($0) }
      let isSuccess = result.stored > 0 || result.outcome == .nothingNew
      try shelf.noteSync(for: fetch.user, isSuccess: isSuccess, refusal: refusal)
    } catch {
      result.reason = result.reason ?? "\(error)"
    }
    return result
  }

  private func run(
    _ result: inout SyncResult, _ ids: inout [String], _ refusal: inout SyncMark.Refusal?
  ) async throws {
    result.edits = try await outbox.send()
    try shelf.obey()
    let limit = try shelf.limit()
    guard limit > 0 else { return }
    // The record exists before the articles take the last room; later it is only overwritten.
    let known = try shelf.syncMark()?.refusal
    try shelf.noteSync(for: fetch.user, isSuccess: false, refusal: known)
    let listed = try await fetch.listed { try await $0.unread(limit: limit) }
    result.unreadable = listed.unreadable
    try shelf.noteEdits(in: listed.bookmarks)
    let wanted = listed.bookmarks.prefix(limit).filter(\.hasArticle)
    ids = wanted.map(\.id)
    result.total = wanted.count
    let listedIDs = Set(ids)
    // Articles that are not newer than this one have no room.
    var last: Bookmark?
    for (number, bookmark) in wanted.enumerated() {
      report(progress(number, result, bookmark.name))
      try Task.checkCancellation()
      guard try shelf.isHere(fetch.user) else { throw ArticlesError.signedOut }
      do {
        if let stored = try shelf.article(bookmark.id), !stored.isEdited {
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
        result.images += try await fetch.images(of: bookmark.id)
      } catch {
        guard try await !isFinal(error) else { throw error }
        result.failed += 1
        result.reason = result.reason ?? "\(bookmark.name): \(error)"
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

  /// Fetches and stores an article. If there is no room, removes older articles; `last` is then the newest of them.
  private func store(
    _ bookmark: Bookmark, keeping known: Set<String>, _ last: inout Bookmark?
  ) async throws -> Storing {
    while true {
      let loaded = try await fetch.html(of: bookmark, keeping: known)
      guard let failure = loaded.error else {
        return loaded.source == .loaded ? .fetched : .present
      }
      guard let error = failure as? LarderError, [.full, .overLimit].contains(error.code) else {
        throw failure
      }
      guard let oldest = try shelf.giveUpOldest(for: bookmark) else { return .withoutRoom(error) }
      if last?.isNewer(than: oldest) != true { last = oldest }
    }
  }

  private func refusal(of bookmark: Bookmark) throws -> SyncMark.Refusal {
    SyncMark.Refusal(
      id: bookmark.id, updated: bookmark.updated, articles: try shelf.articles.count(),
      limits: String(Secrets.digest("\(try shelf.store.limits().effective)").prefix(8)))
  }

  /// Whether an earlier sync found no room for the article, and nothing has changed since.
  private func isRefused(_ bookmark: Bookmark) throws -> Bool {
    guard let known = try shelf.syncMark()?.refusal, known.id == bookmark.id else { return false }
    return try known == refusal(of: bookmark)
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
      return try await !fetch.readeck.answers()
    default:
      return error is LarderError || error is CancellationError
        || (error as? ArticlesError) == .signedOut
    }
  }

  private func progress(_ done: Int, _ result: SyncResult, _ title: String?) -> SyncProgress {
    SyncProgress(
      done: done, total: result.total, title: title, stored: result.stored, failed: result.failed)
  }
}
