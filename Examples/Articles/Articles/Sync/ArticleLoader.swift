import HTTPTypes
import Larder
import Service
import Synchronization

/// Fetches articles and their images, and stores them.
struct ArticleLoader: Sendable {
  let readeck: Readeck
  let storage: ArticleStore

  /// The HTML of an article: from the store, unless it is missing or edited. Concurrent calls share one request.
  ///
  /// An article that cannot be stored is returned all the same; `error` says why. If it was removed meanwhile with all others,
  /// it is not stored, without an error.
  ///
  /// - Parameters:
  ///   - listed: the articles that a sync wants to keep; nil for an article that is opened.
  ///   - began: the time before the bookmark was requested. The user's changes since then are made to it; nil for now.
  func html(
    of bookmark: Bookmark, keeping listed: Set<String>? = nil, since began: Timestamp? = nil
  ) async throws -> CacheResult<String> {
    let (id, began) = (bookmark.id, began ?? storage.store.now)
    var options = LoadOptions(stale: Staleness(onError: ArticleStore.ever), waitsForCommit: true)
    let known = try storage.article(id)
    // The edit may not be recorded, because the disk is full.
    let isLater =
      known.map {
        bookmark.isEdited(since: $0.bookmark)
          && ServiceTime.isLater(bookmark.updated, than: $0.bookmark.updated)
      } ?? false
    options.policy = isLater ? .revalidate : .standard
    let loaded = try await storage.articles.revalidatedResult(for: id, options: options) {
      [self] stored in
      let body = try await readeck.body(of: id, unlessMatching: stored?.entityTag)
      // Without room storing it fails too, and that error is reported.
      if case .html(let html, _) = body {
        let size = html.utf8.count
        _ = try await ifRoomSuspending {
          try await storage.makeRoom(for: bookmark, of: size, keeping: listed)
        }
      }
      return try entry(of: bookmark, body, stored, known)
    }
    guard let loaded else { throw ArticlesError.noArticle(id) }
    readeck.service.note(id, in: storage.articles.name, loaded)
    if loaded.source == .loaded, loaded.error == nil {
      let outbox = Outbox(storage: storage, readeck: readeck)
      _ = try ifRoom {
        try outbox.apply(to: id, since: began)
        if let known { try storage.release(known.images, of: id) }
      }
    }
    return loaded
  }

  private func entry(
    of bookmark: Bookmark, _ body: Readeck.Body, _ stored: CachedValue<String>?,
    _ known: StoredArticle?
  ) throws -> LoadOutcome<String> {
    var attributes = EntryAttributes()
    let html: String
    switch body {
    case .html(let fetched, let validators): (html, attributes) = (fetched, validators)
    case .unchanged:
      // Other fields were edited, the reading progress for example; the metadata is new.
      html = stored?.value ?? ""
      (attributes.entityTag, attributes.lastModified) = (stored?.entityTag, stored?.lastModified)
    }
    let images = ImageAddresses.all(in: html, from: readeck.address(of: bookmark.id))
    var notes = StoredArticle.Notes(bookmark: bookmark, images: images)
    // The same images would not fit again.
    if let known, known.images == images { notes.imageLimit = known.notes.imageLimit }
    attributes.metadata = try notes.encoded()
    return .stored(html, attributes)
  }

  /// The most images that are fetched at the same time.
  private static let mostImages = 4

  /// Fetches the missing images of an article, in parallel and at background priority; returns their number, and the images
  /// that are of no use.
  ///
  /// A failing image does not stop the others. If they do not fit, the article stays without images.
  func images(of id: String) async throws -> (fetched: Int, leftOut: [String]) {
    let limit = try storage.settings().imageBytes
    guard limit > 0, let article = try storage.article(id) else { return (0, []) }
    if let refused = article.notes.imageLimit {
      guard limit > refused else { return (0, []) }
      try storage.allowImages(in: id)
    }
    let leftOut = Mutex<[String]>([])
    let prefetch = try Prefetch(
      storage.missingImages(of: article), concurrency: Self.mostImages, priority: .background,
      pause: { _ in .zero },
      load: { [self] address in
        try await image(at: address, of: id) { reason in leftOut.withLock { $0.append(reason) } }
          ? .loaded : .present
      })
    var failure: (any Error)?
    for await step in prefetch {
      guard case .failed(let error) = step.outcome, failure == nil else { continue }
      failure = error
      prefetch.cancel()
    }
    let summary = await prefetch.finish()
    try Task.checkCancellation()
    switch failure {
    case nil: return (summary.loaded, leftOut.withLock { $0 })
    case let error as LarderError where [.full, .overLimit].contains(error.code):
      try storage.leaveOutImages(of: article, limit: limit)
      return (0, [])
    case let error?: throw error
    }
  }

  /// The waits before further requests for an image.
  private static let pauses: [Duration] = [.milliseconds(500), .seconds(2)]

  /// Whether the image was stored; throws if the store fails or has no room for it.
  private func image(
    at address: String, of id: String, leaveOut: @escaping @Sendable (String) -> Void
  ) async throws -> Bool {
    var pauses = Self.pauses[...]
    while true {
      do {
        return try await storeImage(at: address, of: id, leaveOut)
      } catch let error as ServiceError {
        // The next sync tries again.
        guard error.isTemporary, let pause = pauses.popFirst() else { return false }
        try await readeck.service.sleep(pause)
      }
    }
  }

  private func storeImage(
    at address: String, of id: String, _ leaveOut: @escaping @Sendable (String) -> Void
  ) async throws -> Bool {
    let options = LoadOptions(
      expires: .never, absent: .after(ArticleStore.absence), owners: [storage.owner(id)],
      waitsForCommit: true)
    while true {
      var failure: (any Error)?
      var isFetched = true
      do {
        let loaded = try await storage.images.resultIfPresent(for: address, options: options) {
          [readeck] in
          do {
            return try await readeck.image(at: address).body
          } catch let error as ServiceError where error.isLasting {
            if !error.isRefusal { leaveOut("\(ImageAddresses.name(of: address)): \(error)") }
            return nil
          }
        }
        (failure, isFetched) = (loaded?.error, loaded?.source == .loaded)
      } catch let error as LarderError where error.code == .noSuchOwner {
        failure = error
      }
      switch try storage.settle(address, shownBy: id) {
      case .stored: return isFetched
      case .unwanted: return false
      case .missing: try Task.checkCancellation()
      }
      // It was fetched for an article that was removed meanwhile: once more, for this one.
      if let failure, (failure as? LarderError)?.code != .noSuchOwner { throw failure }
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

  /// Whether the answer to the same request is probably of no use for long.
  fileprivate var isLasting: Bool {
    switch self {
    case .undecodable, .tooLarge: true
    default: isRefusal && !isTemporary
    }
  }
}
