import HTTPTypes
import Larder
import Service

/// Fetching one article, and keeping it for the user who was here when that began.
struct ArticleFetch: Sendable {
  let readeck: Readeck
  let shelf: ArticleShelf
  let user: ArticleShelf.User

  /// The HTML of an article: what is kept, unless it is missing or edited. However many ask for it at once, it is fetched
  /// once.
  ///
  /// What cannot be kept is fetched all the same; `error` says why. Throws ``ArticlesError/signedOut`` if the user has left
  /// meanwhile, and nothing is kept then.
  ///
  /// - Parameter listed: articles that are not to leave for it as long as there are others.
  func html(of bookmark: Bookmark, keeping listed: Set<String> = []) async throws -> CacheResult<
    String
  > {
    var options = LoadOptions(stale: .onError(ArticleShelf.ever))
    // An edit that nobody could note, as on a full disk.
    if let known = try shelf.article(bookmark.id), bookmark.isEdited(since: known.bookmark) {
      options.policy = .revalidate
    }
    let loaded = try await loaded(bookmark, options, keeping: listed)
    if loaded.source == .loaded, loaded.error == nil {
      do {
        try shelf.releaseFormerImages(of: bookmark.id)
      } catch let error as LarderError where error.code == .full {
        // They are noted: the next sync lets them go.
      }
    }
    return loaded
  }

  /// What is kept or loaded for this user. A load that was begun for a former one may be joined, and then ends in that one's
  /// departure: it is over, and another begins.
  private func loaded(
    _ bookmark: Bookmark, _ options: LoadOptions, keeping listed: Set<String>
  ) async throws -> CacheResult<String> {
    while true {
      do {
        let loaded = try await shelf.articles.revalidatedResult(for: bookmark.id, options: options)
        {
          [self] known in
          let body = try await readeck.body(of: bookmark.id, unlessMatching: known?.entityTag)
          guard try shelf.isHere(user) else { throw ArticlesError.signedOut }
          do {
            try shelf.obey()
            try shelf.makeRoom(for: bookmark.id, keeping: listed)
          } catch let error as LarderError where error.code == .full {
            // Then it cannot be stored either, and that error is the one to be told.
          }
          return try answer(body, of: bookmark, known)
        }
        guard let loaded else { throw ArticlesError.noArticle(bookmark.id) }
        // What was stored meanwhile is another user's: a load of before a clear stores nothing.
        guard try shelf.isHere(user) else { throw ArticlesError.signedOut }
        if loaded.error as? ArticlesError != .signedOut { return loaded }
      } catch ArticlesError.signedOut {
        guard try shelf.isHere(user) else { throw ArticlesError.signedOut }
      }
    }
  }

  /// An article as it is to be kept.
  private func answer(
    _ body: Readeck.Body, of bookmark: Bookmark, _ known: CachedValue<String>?
  ) throws -> LoadOutcome<String> {
    var attributes = EntryAttributes()
    let html: String
    switch body {
    case .html(let fetched, let entityTag, let lastModified):
      html = fetched
      (attributes.entityTag, attributes.lastModified) = (entityTag, lastModified)
    case .unchanged:
      // Something else about it was edited, how far it was read for one: what is listed of it is new all the same.
      html = known?.value ?? ""
      (attributes.entityTag, attributes.lastModified) = (known?.entityTag, known?.lastModified)
    }
    let images = ImageAddresses.all(in: html, from: readeck.address(of: bookmark.id))
    var notes = StoredArticle.Notes(bookmark: bookmark, images: images)
    if let before = try shelf.article(bookmark.id)?.notes {
      let former = Set(before.images + (before.former ?? [])).subtracting(images)
      if !former.isEmpty { notes.former = former.sorted() }
    }
    attributes.metadata = try notes.encoded()
    return .stored(html, attributes)
  }

  /// How many images are fetched at a time.
  private static let lanes = 4

  /// Fetches what an article shows and what is not there, in parallel and after everything else; returns how many came.
  ///
  /// Images that cannot be had stop nobody. If they do not fit, the article is kept without any.
  func images(of id: String) async throws -> Int {
    let limit = try shelf.settings().imageBytes
    guard limit > 0, let article = try shelf.article(id) else { return 0 }
    if article.notes.former != nil { try shelf.releaseFormerImages(of: id) }
    if let refused = article.notes.imageLimit {
      guard limit > refused else { return 0 }
      try shelf.allowImages(in: id)
    }
    var missing = try shelf.missingImages(of: article)[...]
    var count = 0
    let fits = try await withThrowingTaskGroup(of: ImageOutcome.self) { group in
      for _ in 0..<Self.lanes {
        guard let address = missing.popFirst() else { break }
        group.addTask(priority: .background) { try await image(at: address, of: id, limit: limit) }
      }
      while let outcome = try await group.next() {
        if outcome == .tooMuch {
          group.cancelAll()
          return false
        }
        if outcome == .stored { count += 1 }
        guard let address = missing.popFirst() else { continue }
        group.addTask(priority: .background) { try await image(at: address, of: id, limit: limit) }
      }
      return true
    }
    if fits { return count }
    try shelf.leaveOutImages(of: article, limit: limit)
    return 0
  }

  private enum ImageOutcome {
    case stored
    /// It is not to be had, which was noted; or the article has no use for it any more.
    case gone
    /// It may be had another time.
    case later
    case tooMuch
  }

  /// How long to wait before an image is asked for again.
  private static let pauses: [Duration] = [.milliseconds(500), .seconds(2)]

  private func image(at address: String, of id: String, limit: Int) async throws -> ImageOutcome {
    var pauses = Self.pauses[...]
    while true {
      do {
        return try await keepImage(at: address, of: id, limit: limit)
      } catch let error as ServiceError {
        guard error.isTemporary else {
          try shelf.noteAbsence(of: address, in: id, reason: "\(error)")
          return .gone
        }
        guard let pause = pauses.popFirst() else { return .later }
        try await readeck.sleep(pause)
      }
    }
  }

  private func keepImage(
    at address: String, of id: String, limit: Int
  ) async throws -> ImageOutcome {
    while true {
      let loaded = try await shelf.images.revalidatedResult(for: address, options: LoadOptions()) {
        [readeck, shelf] _ in
        let reply = try await readeck.image(at: address)
        return .stored(
          reply.body, shelf.attributes(ofImageIn: id, type: reply.fields[.contentType]))
      }
      switch try shelf.settle(address, shownBy: id) {
      case .kept: return .stored
      case .unwanted: return .gone
      case .missing: try Task.checkCancellation()
      }
      // It was fetched for another article, which has left, or it has left with that: once more, for this one.
      guard let error = loaded?.error, (error as? LarderError)?.code != .noSuchOwner else {
        continue
      }
      guard let code = (error as? LarderError)?.code, [.full, .overLimit].contains(code),
        try shelf.isTooMuch(loaded?.value.count ?? 0, limit: limit)
      else { throw error }
      return .tooMuch
    }
  }
}

extension ServiceError {
  /// Whether the same may succeed a little later.
  fileprivate var isTemporary: Bool {
    switch self {
    case .refused(let status, _): status >= 500 || status == 408
    case .unreachable, .throttled: true
    default: false
    }
  }
}
