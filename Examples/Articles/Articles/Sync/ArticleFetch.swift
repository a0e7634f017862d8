import HTTPTypes
import Larder
import Service

/// Fetching one article, and keeping it.
struct ArticleFetch: Sendable {
  let readeck: Readeck
  let shelf: ArticleShelf
  let settings: OfflineSettings

  /// The HTML of an article: what is kept, unless it is missing or edited. However many ask for it at once, it is fetched
  /// once.
  ///
  /// - Parameter listed: articles that are not to leave for it as long as there are others.
  func html(of bookmark: Bookmark, keeping listed: Set<String> = []) async throws -> Loaded<String>
  {
    let before = try shelf.article(bookmark.id)?.images ?? []
    let options = LoadOptions(stale: .onError(ArticleShelf.ever))
    let loaded = try await shelf.articles.answer(for: bookmark.id, options: options) {
      [readeck, shelf, settings] known in
      let body = try await readeck.body(of: bookmark.id, unlessMatching: known?.entityTag)
      try shelf.makeRoom(for: bookmark.id, keeping: listed, limit: settings.limit)
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
      attributes.metadata = try StoredArticle.Notes(bookmark, images: images).encoded()
      return .stored(html, attributes)
    }
    guard let loaded else { throw ArticlesError.noArticle(bookmark.id) }
    if loaded.source == .loaded, loaded.error == nil {
      let now = Set(try shelf.article(bookmark.id)?.images ?? [])
      try shelf.release(before.filter { !now.contains($0) }, from: bookmark.id)
    }
    return loaded
  }

  /// How many images are fetched at a time.
  private static let lanes = 4

  /// Fetches what an article shows and what is not there, in parallel and after everything else; returns how many came.
  ///
  /// Images that cannot be had stop nobody. If they do not fit, the article is kept without any.
  func images(of id: String) async throws -> Int {
    guard settings.imageBytes > 0, var article = try shelf.article(id) else { return 0 }
    if let limit = article.imageLimit {
      guard settings.imageBytes > limit else { return 0 }
      try shelf.allowImages(in: article)
      article.imageLimit = nil
    }
    var missing = try shelf.missingImages(of: article)[...]
    var count = 0
    let fits = try await withThrowingTaskGroup(of: ImageOutcome.self) { group in
      for _ in 0..<Self.lanes {
        guard let address = missing.popFirst() else { break }
        group.addTask(priority: .background) { try await image(at: address, of: id) }
      }
      while let outcome = try await group.next() {
        if outcome == .tooMuch {
          group.cancelAll()
          return false
        }
        if outcome == .stored { count += 1 }
        guard let address = missing.popFirst() else { continue }
        group.addTask(priority: .background) { try await image(at: address, of: id) }
      }
      return true
    }
    if fits { return count }
    try shelf.leaveOutImages(of: article, limit: settings.imageBytes)
    return 0
  }

  private enum ImageOutcome {
    case stored
    /// It is not to be had: it was noted.
    case gone
    /// It may be had another time.
    case later
    case tooMuch
  }

  /// How long to wait before an image is asked for again.
  private static let pauses: [Duration] = [.milliseconds(500), .seconds(2)]

  private func image(at address: String, of id: String) async throws -> ImageOutcome {
    var pauses = Self.pauses[...]
    while true {
      do {
        return try await keepImage(at: address, of: id)
      } catch let error as ServiceError {
        guard error.isTemporary else {
          try await shelf.images.namespace.set(
            [], for: address, shelf.attributes(ofImageIn: id, type: "\(error)"))
          return .gone
        }
        guard let pause = pauses.popFirst() else { return .later }
        try await readeck.sleep(pause)
      }
    }
  }

  private func keepImage(at address: String, of id: String) async throws -> ImageOutcome {
    let loaded = try await shelf.images.answer(for: address, options: LoadOptions()) {
      [readeck, shelf] _ in
      let reply = try await readeck.image(at: address)
      return .stored(
        reply.body, shelf.attributes(ofImageIn: id, type: reply.fields[.contentType]))
    }
    guard let error = loaded?.error as? LarderError else { return .stored }
    switch error.code {
    case .noSuchOwner:
      // The article has left meanwhile.
      return .gone
    case .full, .overLimit:
      if try shelf.isTooMuch(loaded?.value.count ?? 0, limit: settings.imageBytes) {
        return .tooMuch
      }
      throw error
    default: throw error
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
