import Larder
import Service

/// Stores the newest unread articles.
///
/// Each article is stored as soon as it was fetched, so after any end, even a kill of the process, the next sync continues.
struct ArticleSync: Sendable {
  let loader: ArticleLoader
  let outbox: Outbox
  let report: @Sendable (SyncProgress) -> Void

  var storage: ArticleStore { loader.storage }

  /// A sync under way.
  struct Course {
    var result = SyncResult()
    /// The time before its list was requested.
    var began: Timestamp
    /// The listed articles.
    var ids: [String] = []
    var refusal: SyncRecord.Refusal?
    /// Articles that are not newer than this one have no room.
    var last: Bookmark?

    var listed: Set<String> { Set(ids) }
  }

  func run() async -> SyncResult {
    var course = Course(began: storage.store.now)
    do {
      try await run(&course)
    } catch {
      course.result.isStopped = true
      course.result.isRefused = (error as? ServiceError)?.isRefusal ?? false
      course.result.reason = error is CancellationError ? "it was ended" : "\(error)"
    }
    var result = course.result
    do {
      let hidden = try outbox.hidden(since: course.began)
      course.ids.removeAll(where: hidden.contains)
      result.total = course.ids.count
      result.kept = try course.ids.count { try storage.has($0) }
      let isSuccess = result.stored > 0 || result.outcome == .nothingNew
      try storage.endSync(isSuccess: isSuccess, refusal: course.refusal)
    } catch {
      result.reason = result.reason ?? "\(error)"
    }
    return result
  }

  private func run(_ course: inout Course) async throws {
    course.result.edits = try await sendEdits()
    try storage.applySettings()
    let limit = try storage.limit()
    guard limit > 0 else { return }
    try await storage.beginSync()
    let wanted = try await listed(limit, &course)
    for (number, bookmark) in wanted.enumerated() {
      report(progress(number, course.result, bookmark.name))
      try Task.checkCancellation()
      guard try storage.syncRecord() != nil else { throw ArticlesError.ended }
      guard try number < storage.limit() else { break }
      do {
        // The user may archive or delete it at any time, also in another process.
        guard try !outbox.hidden(since: course.began).contains(bookmark.id),
          try await keep(bookmark, &course)
        else { continue }
        let images = try await loader.images(of: bookmark.id)
        course.result.images += images.fetched
        course.result.imagesLeftOut += images.leftOut
      } catch {
        guard try await !isFinal(error) else { throw error }
        course.result.failures.append("\(bookmark.name): \(error)")
      }
    }
    if course.result.withoutRoom > 0, course.result.reason == nil {
      course.result.reason = "the store has no room for \(course.result.withoutRoom) articles"
    }
    report(progress(wanted.count, course.result, nil))
  }

  private func sendEdits() async throws -> OutboxReport {
    var outbox = outbox
    outbox.progress = { [report] done, count in
      report(SyncProgress(isSending: true, done: done, total: count))
    }
    return try await outbox.send()
  }

  /// The listed articles that are to be stored. Those that the service lists no more are removed.
  private func listed(_ limit: Int, _ course: inout Course) async throws -> [Bookmark] {
    course.began = storage.store.now
    let list = try await loader.readeck.unread(limit: limit)
    course.result.unreadable = list.unreadable
    try await storage.noteEdits(in: list.bookmarks, before: course.began)
    let hidden = try outbox.hidden(since: course.began)
    let wanted = list.bookmarks.prefix(limit).filter {
      $0.hasArticle && !$0.isArchived && !hidden.contains($0.id)
    }
    course.ids = wanted.map(\.id)
    course.result.total = wanted.count
    if !list.isWhole {
      course.result.reason =
        "the service lists \(list.bookmarks.count) articles and says it has more"
    } else if list.unreadable.isEmpty, list.tellsGone {
      course.result.removed = try storage.removeUnlisted(
        in: list.bookmarks, isAll: !list.isFull,
        but: Set(try outbox.edits(since: course.began).map(\.article)), before: course.began)
    }
    return wanted
  }

  /// Whether the sync cannot go on: the network is gone, the service refuses this user or all requests, the store fails, or
  /// the sync was cancelled. A failure of one request concerns its article alone if the service lists articles as before.
  private func isFinal(_ error: any Error) async throws -> Bool {
    switch error {
    case ServiceError.throttled: return true
    case let error as ServiceError where error.isOffline || error.refusesReader:
      return try await !loader.readeck.lists()
    case is ServiceError: return false
    case let error as LarderError:
      return ![.overLimit, .invalidArgument, .unencodable, .undecodable].contains(error.code)
    default: return error is CancellationError || (error as? ArticlesError) == .ended
    }
  }

  private func progress(_ done: Int, _ result: SyncResult, _ title: String?) -> SyncProgress {
    SyncProgress(
      done: done, total: result.total, title: title, stored: result.stored, failed: result.failed)
  }
}

extension ServiceError {
  /// Whether the service may refuse the user as a whole, and not the request alone.
  var refusesReader: Bool {
    if case .refused(let status, _) = self { [401, 403].contains(status) } else { false }
  }
}
