import Larder
import LarderHTTP
import Service

/// How a sync stores one article, and what it does without room.
extension ArticleSync {
  /// Stores an article unless it is; false if it has no room.
  func keep(_ bookmark: Bookmark, _ course: inout Course) async throws -> Bool {
    if let stored = try storage.article(bookmark.id), !stored.isEdited {
      course.result.skipped += 1
    } else if try course.last.map({ !bookmark.isNewer(than: $0) }) ?? isRefused(bookmark) {
      course.last = course.last ?? bookmark
      if course.refusal == nil { course.refusal = try refusal(of: bookmark) }
      course.result.withoutRoom += 1
      return false
    } else {
      switch try await storeUnlessOversized(bookmark, &course) {
      case .fetched: course.result.stored += 1
      case .present: course.result.skipped += 1
      case .withoutRoom(let error, let size):
        course.result.reason = course.result.reason ?? "\(error)"
        course.last = bookmark
        course.refusal = storage.isDiskFull(for: size) ? nil : try refusal(of: bookmark)
        course.result.withoutRoom += 1
        return false
      }
    }
    return true
  }

  private enum Storing {
    case fetched
    /// Another process has fetched and stored it meanwhile.
    case present
    case withoutRoom(LarderError, size: Int)
  }

  /// Fetches and stores an article. One that was too large is not fetched again within a day, unless it or the limits changed.
  private func storeUnlessOversized(
    _ bookmark: Bookmark, _ course: inout Course
  ) async throws -> Storing {
    let limits = try limits()
    if let known = try storage.oversized.value(for: bookmark.id),
      (known.updated, known.limits) == (bookmark.updated, limits)
    {
      throw LarderError(.overLimit, known.reason)
    }
    do {
      return try await store(bookmark, &course)
    } catch let error where error.isOversized {
      let known = OversizedArticle(
        updated: bookmark.updated, limits: limits, reason: "\(error)")
      _ = try await ifRoomSuspending { try await storage.oversized.set(known, for: bookmark.id) }
      throw error
    }
  }

  /// Fetches and stores an article. If there is no room, removes others; `last` is then the newest listed one of them. An article
  /// that would not fit without them either fails alone, and removes none.
  private func store(_ bookmark: Bookmark, _ course: inout Course) async throws -> Storing {
    let listed = course.listed
    while true {
      let loaded = try await loader.html(of: bookmark, keeping: listed, since: course.began)
      guard let failure = loaded.error else {
        return loaded.source == .loaded ? .fetched : .present
      }
      guard let error = failure as? LarderError, error.code == .full else { throw failure }
      let size = loaded.value.utf8.count
      let removable = try storage.removable(for: bookmark, keeping: listed)
      guard let oldest = removable.last?.bookmark else { return .withoutRoom(error, size: size) }
      guard try storage.hasRoom(for: size, without: removable) else {
        throw LarderError(
          .overLimit, "a value of \(size) bytes has no room, with or without older articles",
          hint: error.hint)
      }
      try await storage.remove(oldest.id)
      if listed.contains(oldest.id), course.last?.isNewer(than: oldest) != true {
        course.last = oldest
      }
    }
  }

  private func refusal(of bookmark: Bookmark) throws -> SyncRecord.Refusal {
    SyncRecord.Refusal(
      id: bookmark.id, updated: bookmark.updated, articles: try storage.articles.count(),
      limits: try limits(),
      used: try storage.used())
  }

  /// A digest of the limits of the store and of articles.
  private func limits() throws -> String {
    let rules = try storage.articles.namespace.info()?.rules
    let own = [rules?.largestValue, rules?.limits.bytes].map { $0 ?? .max }
    let text = "\(try storage.store.limits().effective) \(own)"
    return String(Secrets.digest(text, in: storage.store).prefix(8))
  }

  /// Whether an earlier sync found no room for the article, and there is no more room since.
  private func isRefused(_ bookmark: Bookmark) throws -> Bool {
    try storage.syncRecord()?.refusal?.holds(for: refusal(of: bookmark)) ?? false
  }
}

extension Error {
  /// Whether an article is too large for the store or for a request.
  fileprivate var isOversized: Bool {
    switch self as any Error {
    case ServiceError.tooLarge: true
    case let error as LarderError: error.code == .overLimit
    default: false
    }
  }
}
