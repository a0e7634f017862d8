import HTTPTypes
import Larder
import Service

/// Fetches one article and stores it for a session that is still current.
struct ArticleFetch: Sendable {
  let readeck: Readeck
  let shelf: ArticleShelf
  let user: ArticleShelf.User

  /// The HTML of an article: from the store, unless it is missing or edited. Concurrent calls share one request.
  ///
  /// An article that cannot be stored is returned all the same; `error` says why. Throws ``ArticlesError/signedOut`` if the
  /// session has ended meanwhile; then nothing is stored.
  ///
  /// - Parameter listed: articles that are removed last if the limit needs it.
  func html(of bookmark: Bookmark, keeping listed: Set<String> = []) async throws -> CacheResult<
    String
  > {
    var options = LoadOptions(stale: .onError(ArticleShelf.ever), waitsForCommit: true)
    // The edit may not be recorded, because the disk is full.
    if let known = try shelf.article(bookmark.id), bookmark.isEdited(since: known.bookmark) {
      options.policy = .revalidate
    }
    let loaded = try await loaded(bookmark, options, keeping: listed)
    readeck.service.note(bookmark.id, in: shelf.articles.name, loaded)
    if loaded.source == .loaded, loaded.error == nil {
      do {
        try shelf.releaseFormerImages(of: bookmark.id)
      } catch let error as LarderError where error.code == .full {
        // They are recorded: the next sync removes them.
      }
    }
    return loaded
  }

  /// The stored or loaded HTML. If this call joins a load of an ended session, it starts another one after that.
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
            // Storing it fails too, and that error is reported.
          }
          return try answer(body, of: bookmark, known)
        }
        guard let loaded else { throw ArticlesError.noArticle(bookmark.id) }
        // A load that began before a clear stores nothing, so a stored article belongs to another session.
        guard try shelf.isHere(user) else { throw ArticlesError.signedOut }
        if loaded.error as? ArticlesError != .signedOut { return loaded }
      } catch ArticlesError.signedOut {
        guard try shelf.isHere(user) else { throw ArticlesError.signedOut }
      }
    }
  }

  /// The service's answer to `ask`, which the HTTP cache stores.
  ///
  /// The cache knows nothing of the session. If that has ended meanwhile, removes the stored answer and throws
  /// ``ArticlesError/signedOut``.
  func listed<List: Sendable>(_ ask: (Readeck) async throws -> List) async throws -> List {
    let outcome: Result<List, any Error>
    do {
      outcome = .success(try await ask(readeck))
    } catch {
      outcome = .failure(error)
    }
    guard try shelf.isHere(user) else {
      try await readeck.forget()
      throw ArticlesError.signedOut
    }
    return try outcome.get()
  }

  /// The entry of an article.
  private func answer(
    _ body: Readeck.Body, of bookmark: Bookmark, _ known: CachedValue<String>?
  ) throws -> LoadOutcome<String> {
    var attributes = EntryAttributes()
    let html: String
    switch body {
    case .html(let fetched, let validators): (html, attributes) = (fetched, validators)
    case .unchanged:
      // Other fields were edited, the reading progress for example; the metadata is new.
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

  /// The most images that are fetched at the same time.
  private static let lanes = 4

  /// Fetches the missing images of an article, in parallel and at background priority; returns their number.
  ///
  /// A failing image does not stop the others. If they do not fit, the article stays without images.
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
    /// Refused, which is recorded; or not needed any more.
    case gone
    /// Failed for now: the next sync tries again.
    case later
    case tooMuch
  }

  /// The waits before further requests for an image.
  private static let pauses: [Duration] = [.milliseconds(500), .seconds(2)]

  private func image(at address: String, of id: String, limit: Int) async throws -> ImageOutcome {
    var pauses = Self.pauses[...]
    while true {
      do {
        return try await keepImage(at: address, of: id, limit: limit)
      } catch let error as ServiceError {
        if error.isRefusal, !error.isTemporary {
          try shelf.noteAbsence(of: address, in: id, reason: "\(error)")
          return .gone
        }
        guard error.isTemporary, let pause = pauses.popFirst() else { return .later }
        try await readeck.service.sleep(pause)
      }
    }
  }

  private func keepImage(
    at address: String, of id: String, limit: Int
  ) async throws -> ImageOutcome {
    while true {
      let loaded = try await shelf.images.revalidatedResult(
        for: address, options: LoadOptions(waitsForCommit: true)
      ) {
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
      // It was fetched for an article that was removed meanwhile: once more, for this one.
      guard let error = loaded?.error, (error as? LarderError)?.code != .noSuchOwner else {
        continue
      }
      guard let code = (error as? LarderError)?.code, [.full, .overLimit].contains(code) else {
        throw error
      }
      return .tooMuch
    }
  }
}

extension ServiceError {
  /// Whether the same request may succeed a little later.
  var isTemporary: Bool {
    switch self {
    case .refused(let status, _): status >= 500 || status == 408
    case .unreachable, .interrupted, .throttled: true
    default: false
    }
  }
}
