import Larder
import Service
import Synchronization

/// Articles to read.
extension ArticleReader {
  /// An article: from the store, unless it is missing or edited. Then it is fetched and, if there is room, stored. An edited
  /// article that cannot be fetched is returned in its stored version. It displaces no newer one.
  ///
  /// - Parameter bookmark: from the last list.
  public func article(_ bookmark: Bookmark) async throws -> Article {
    let (article, isNew) = try await open(bookmark)
    if isNew { fetchImages(of: bookmark.id) }
    return article
  }

  /// The article with this id; its bookmark is fetched only if it is not stored, or edited.
  ///
  /// Of the tasks and processes that open it at the same time one asks the service.
  public func article(id: String) async throws -> Article {
    if let known = try storage.article(id), !known.isEdited {
      return try await article(known.bookmark)
    }
    let (article, isNew) = try await storage.syncs.inTurn("article \(id)") { [self] in
      try await open(id)
    }
    if isNew { fetchImages(of: id) }
    return article
  }

  private func open(_ id: String) async throws -> (Article, isNew: Bool) {
    let (known, began) = (try storage.article(id), storage.store.now)
    if let known, !known.isEdited { return try await open(known.bookmark) }
    do {
      return try await open(readeck.bookmark(id), since: began)
    } catch let error as ServiceError {
      // Any stored version is better than none.
      guard let known, let html = try await storage.html(of: id) else { throw error }
      var article = Article(bookmark: known.bookmark, html: html, isKept: true, isOutdated: true)
      (article.reason, article.isRefused) = ("\(error)", error.refusesReader)
      return (article, false)
    }
  }

  /// - Parameter began: the time before the bookmark was requested.
  private func open(_ bookmark: Bookmark, since began: Timestamp? = nil) async throws -> (
    Article, isNew: Bool
  ) {
    guard try settings().limit > 0 else {
      guard case .html(let html, _) = try await readeck.body(of: bookmark.id, unlessMatching: nil)
      else { throw ArticlesError.noArticle(bookmark.id) }
      return (Article(bookmark: bookmark, html: html, isKept: false, isOutdated: false), false)
    }
    _ = try ifRoom { try storage.applySettings() }
    let loaded = try await loader.html(of: bookmark, since: began)
    let isLoaded = loaded.source == .loaded
    // A removal of all articles during the load is no error, and the article is not stored.
    let isKept = try !isLoaded || loaded.error == nil && storage.has(bookmark.id)
    if !isKept, let error = loaded.error {
      let limit = try storage.limit()
      report(try storage.articles.count() < limit ? error : ArticlesError.noPlace(limit))
    }
    var article = Article(
      bookmark: bookmark, html: loaded.value, isKept: isKept, isOutdated: false)
    if !isLoaded, let error = loaded.error {
      article.isOutdated =
        try storage.article(bookmark.id).map {
          $0.isEdited || bookmark.isEdited(since: $0.bookmark)
        } ?? true
      article.reason = "\(error)"
      article.isRefused = (error as? ServiceError)?.refusesReader ?? false
    }
    return (article, isKept && isLoaded)
  }

  private func fetchImages(of id: String) {
    work.withLock { work in
      work.lastTask += 1
      let number = work.lastTask
      work.images[number] = Task(priority: .background) { [self] in
        do {
          _ = try await loader.images(of: id)
        } catch is CancellationError {
          // Cancelled on purpose.
        } catch {
          report(error)
        }
        self.work.withLock { $0.images[number] = nil }
      }
    }
  }
}
