import Larder
import Service

/// Makes the shelf hold the newest unread articles.
///
/// Each article is kept as soon as it is there, so whatever ends a sync, even the process being killed, the next one goes on
/// where it was.
struct ArticleSync: Sendable {
  let fetch: ArticleFetch
  let report: @Sendable (SyncProgress) -> Void

  func run() async -> SyncResult {
    var result = SyncResult()
    do {
      try await run(&result)
    } catch is CancellationError {
      result.isStopped = true
      result.reason = result.reason ?? "it was ended"
    } catch {
      result.isStopped = true
      result.reason = "\(error)"
    }
    do {
      if result.stored > 0 || result.outcome == .nothingNew {
        try fetch.shelf.noteSync(for: fetch.user)
      }
    } catch {
      result.reason = result.reason ?? "\(error)"
    }
    return result
  }

  private func run(_ result: inout SyncResult) async throws {
    try fetch.shelf.obey()
    let limit = try fetch.shelf.settings().limit
    guard limit > 0 else { return }
    let listed = try await fetch.listed { try await $0.unread(limit: limit) }
    try fetch.shelf.noteEdits(in: listed)
    let wanted = listed.prefix(limit).filter(\.hasArticle)
    let ids = Set(wanted.map(\.id))
    result.total = wanted.count
    for (number, bookmark) in wanted.enumerated() {
      report(progress(number, result, bookmark.name))
      try Task.checkCancellation()
      guard try fetch.shelf.isHere(fetch.user) else { throw ArticlesError.signedOut }
      do {
        if let known = try fetch.shelf.article(bookmark.id), !known.isEdited {
          result.skipped += 1
        } else {
          let loaded = try await fetch.html(of: bookmark, keeping: ids)
          if let error = loaded.error { throw error }
          result.stored += 1
        }
        result.images += try await fetch.images(of: bookmark.id)
      } catch  where !Self.isFinal(error) {
        result.failed += 1
        result.reason = result.reason ?? "\(bookmark.name): \(error)"
      }
    }
    report(progress(wanted.count, result, nil))
  }

  /// Whether nothing that follows can succeed: the network is gone, the service has had enough or does not know the user any
  /// more, the disk is full, or nobody wants it.
  private static func isFinal(_ error: any Error) -> Bool {
    switch error {
    case let error as ServiceError:
      switch error {
      case .unreachable, .throttled, .refused(status: 401, _): true
      default: false
      }
    default: error is LarderError || error is CancellationError
    }
  }

  private func progress(_ done: Int, _ result: SyncResult, _ title: String?) -> SyncProgress {
    SyncProgress(
      done: done, total: result.total, title: title, stored: result.stored, failed: result.failed)
  }
}
