import Larder
import Service
import Synchronization

extension ArticleReader {
  /// An article from the store, unless it is missing there or edited. Then the article is fetched and, if there is room,
  /// stored, and later its images. If the fetch of an edited article fails, the result is the stored version.
  ///
  /// If several tasks and processes open the article at the same time, one of them asks the service.
  public func article(_ id: String) async throws -> Article {
    _ = try await ifRoom { try storage.applySettings() }
    let opened = Mutex(try storage.article(id)?.bookmark)
    let loaded = try await load(id) { [self] in
      let bookmark = try await readeck.bookmark(id).value
      opened.withLock { $0 = bookmark }
      return bookmark
    }
    // Another task may have loaded the article.
    let stored = try storage.article(id)?.bookmark
    guard let bookmark = stored ?? opened.withLock({ $0 }) else { throw ArticlesError.ended }
    var article = Article(bookmark: bookmark, html: loaded.value)
    if loaded.source != .loaded {
      article.reason = loaded.error.map { "\($0)" }
      article.isRefused = (loaded.error as? ServiceError)?.refusesReader ?? false
      return article
    }
    // A removal of all articles during the load is no error; the article is then not stored.
    article.isKept = loaded.error == nil && stored != nil
    if let error = loaded.error, try settings().limit > 0 { report(error) }
    if article.isKept {
      let task = Task(priority: .background) { [self] in
        do {
          _ = try await images(of: id)
        } catch is CancellationError {
          // A sign-out cancels the fetch of images.
        } catch { report(error) }
      }
      work.withLock { $0.images.append(task) }
    }
    return article
  }

  /// The HTML of an article: from the store, unless it is missing or edited. An article that cannot be stored is returned
  /// all the same, with an error that says why.
  ///
  /// - Parameters:
  ///   - listed: the articles that must not be removed for this one.
  ///   - requested: the time before the bookmark was requested; nil for now.
  func load(
    _ id: String, keeping listed: Set<String> = [], since requested: Timestamp? = nil,
    _ bookmark: @escaping @Sendable () async throws -> Bookmark
  ) async throws -> CacheResult<String> {
    let known = try storage.article(id)
    let options = LoadOptions(stale: Staleness(onError: ArticleStore.ever), waitsForCommit: true)
    let loaded = try await storage.articles.result(for: id, options: options) {
      [self] stored in
      let requested = requested ?? storage.store.now
      var notes = StoredArticle.Notes(bookmark: try await bookmark(), requested: requested)
      let body = try await readeck.body(of: id, stored: stored)
      // If only other fields were edited, such as the reading progress, only the metadata is new.
      let html = body?.html ?? stored?.value ?? ""
      notes.images = ImageAddresses.all(in: html, from: readeck.address(of: id))
      // If the images did not fit before, they would not fit now.
      if notes.images == known?.images { notes.imageLimit = known?.notes.imageLimit }
      if known == nil { try await makeRoom(keeping: listed) }
      let validators = body?.validators ?? stored?.validators
      return Loaded(html, validators: validators ?? Validators(), metadata: try notes.encoded())
    }
    guard let loaded else { throw ArticlesError.ended }
    readeck.service.note(id, in: storage.articles.name, loaded)
    if loaded.source == .loaded, loaded.error == nil, let known, !known.images.isEmpty {
      // The new version may lack some of the images.
      _ = try await ifRoom {
        try storage.store.write { try storage.settle(known.images, of: id, in: &$0) }
      }
    }
    return loaded
  }

  /// Removes the oldest article if the limit of articles is reached.
  private func makeRoom(keeping listed: Set<String>) async throws {
    let limit = try settings().limit
    guard limit > 0, try storage.articles.count() >= limit,
      let oldest = try storage.list().last(where: { !listed.contains($0.bookmark.id) })
    else { return }
    // If this removal finds no room, the article cannot be stored either, and its error is reported.
    _ = try await ifRoom { try await storage.articles.remove(oldest.bookmark.id) }
  }
}
