import Larder
import Service
import Synchronization

extension ArticleReader {
  /// An article from the store. If the article is missing there, or if the service has a newer version, only one of the tasks
  /// and processes that open the article fetches it. The fetched article is stored if there is room, and then its images are
  /// fetched. If the fetch of the article fails, the result is the stored version.
  public func article(_ id: String) async throws -> Article {
    _ = try await unless(.full) { try applySettings() }
    let began = store.now
    let requested = Mutex<Bookmark?>(nil)
    let loaded = try await load(id) { [readeck] in
      let bookmark = try await readeck.bookmark(id).value
      requested.withLock { $0 = bookmark }
      return bookmark
    }
    let stored = try storedArticle(id)
    // If there was no room, the store has no bookmark. If another task or process did the load, this task has requested no
    // bookmark. If neither has a bookmark, the service gives it.
    let known = stored?.bookmark ?? requested.withLock { $0 }
    let bookmark = if let known { known } else { try await readeck.bookmark(id).value }
    let seen = try edits().applied(to: bookmark, since: stored?.requested ?? began) ?? bookmark
    var article = Article(bookmark: seen, html: loaded.value, error: loaded.error)
    guard loaded.source == .loaded else { return article }
    // The articles may have been removed during the load. In this case the load does not fail, but the article is not stored.
    article.isKept = loaded.error == nil && stored != nil
    guard article.isKept else { return article }
    // An error is ignored, because the next sync fetches the missing images.
    let task = Task(priority: .background) { [self] in _ = try? await fetchImages(of: id) }
    work.withLock { $0.images.append(task) }
    return article
  }

  /// The HTML of an article. If the HTML cannot be stored, the result also has an error.
  ///
  /// - Parameters:
  ///   - listed: The articles that must not be removed to make room for this article.
  ///   - requested: The time just before the request for the bookmark. Nil means the present time.
  func load(
    _ id: String, keeping listed: Set<String> = [], since requested: Timestamp? = nil,
    _ bookmark: @escaping @Sendable () async throws -> Bookmark
  ) async throws -> CacheResult<String> {
    let known = try storedArticle(id)
    let options = LoadOptions(stale: Staleness(onError: Self.ever), waitsForCommit: true)
    let loaded = try await articles.result(for: id, options: options) { [self] stored in
      let requested = requested ?? store.now
      var article = StoredArticle(bookmark: try await bookmark(), requested: requested)
      let body = try await readeck.body(of: id, stored: stored)
      // If only other fields have changed, such as the reading progress, the service sends no HTML, and only the metadata is new.
      let html = body?.html ?? stored?.value ?? ""
      article.images = ImageAddresses.all(in: html, from: readeck.address(of: id))
      if known == nil { try await makeRoom(keeping: listed) }
      let validators = body?.validators ?? stored?.validators
      return Loaded(html, validators: validators ?? Validators(), metadata: try article.encoded())
    }
    guard let loaded else { throw ArticlesError.ended }
    readeck.note(id, in: articles.name, loaded)
    if loaded.source == .loaded, loaded.error == nil, let known, !known.images.isEmpty {
      // The new version may show fewer images, so the article no longer owns the other images. If the new version shows all
      // earlier images, these images exceed the limit again, so the known limit stays.
      _ = try await unless(.full) { try settle(known, imageLimit: known.imageLimit) }
    }
    return loaded
  }

  private func makeRoom(keeping listed: Set<String>) async throws {
    let limit = try settings().limit
    guard limit > 0, try articles.count() >= limit,
      let oldest = try storedArticles().last(where: { !listed.contains($0.bookmark.id) })
    else { return }
    // If there is no room even for this removal, the later attempt to store the article also fails, and reports the error.
    _ = try await unless(.full) { try await articles.remove(oldest.bookmark.id) }
  }

  /// Fetches the missing images of an article, four at a time and at background priority. Returns the number of fetched images.
  ///
  /// If the fetch of one image fails, the other fetches continue. If the images exceed their limit, the article gets none. The
  /// next sync fetches the images for which the time is not enough: a hostile server may send an image without an end.
  func fetchImages(of id: String) async throws -> Int {
    let limit = try settings().imageBytes
    guard let article = try storedArticle(id), limit > article.imageLimit ?? 0 else { return 0 }
    let missing = try article.images.filter { address in
      let entry = try images.entry(for: address)
      return entry.map { $0.state == .expired || !$0.owners.contains(owner(id)) } ?? true
    }
    if missing.isEmpty { return 0 }
    let options = LoadOptions(
      expires: .never, absent: .after(.days(1)), timeout: .minutes(5), owners: [owner(id)])
    let end = store.clock.monotonic + .minutes(10)
    let fetched = Atomic(0)
    let largest = Atomic(0)
    let prefetch = try images.prefetch(
      missing, options: options, concurrency: 4, priority: .background
    ) { [self] address, _ in
      if store.clock.monotonic > end { throw LarderError(.timedOut, "no time is left") }
      guard let image = try await fetchImage(at: address) else { return .absent }
      fetched.add(1, ordering: .relaxed)
      largest.max(image.count, ordering: .relaxed)
      return .value(image)
    }
    var failure: (any Error)?
    for await step in prefetch {
      // The next sync repeats a failed request, and a removed article needs no images. So these errors stop no other fetch.
      guard case .failed(let error) = step.outcome, !(error is ServiceError),
        ![.noSuchOwner, .timedOut].contains((error as? LarderError)?.code)
      else { continue }
      failure = failure ?? error
      prefetch.cancel()
    }
    _ = await prefetch.finish()
    let code = (failure as? LarderError)?.code
    let least = try (images.namespace.info()?.bytes ?? 0) + largest.load(ordering: .relaxed)
    // If the images fit under their limit, a limit of the store is the reason, and a later sync may find room.
    let isTooLarge = [.full, .overLimit].contains(code) && least > limit
    // During the fetches the article may have changed, and other articles may share its images. So the owners are set again.
    try settle(article, imageLimit: isTooLarge ? limit : nil)
    try Task.checkCancellation()
    if isTooLarge { return 0 }
    if let failure { throw failure }
    return fetched.load(ordering: .relaxed)
  }

  /// The image; nil if the service refuses it, or if the body is empty, too large or damaged. Throws if the body is no image.
  private func fetchImage(at address: String) async throws -> [UInt8]? {
    var pauses = pauses[...]
    while true {
      do { return try await readeck.image(at: address) } catch let error as ServiceError {
        let status = error.status ?? 0
        switch error {
        // The same request may succeed a little later, so it is sent again after a pause.
        case _ where error.isOffline || status >= 500 || [408, 429].contains(status):
          guard let pause = pauses.popFirst() else { throw error }
          try await Task.sleep(for: pause)
        case .refused where error.isRefusal, .undecodable, .failed: return nil
        default: throw error
        }
      }
    }
  }
}
