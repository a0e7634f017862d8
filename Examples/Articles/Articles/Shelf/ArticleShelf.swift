import Larder

/// Where articles are kept.
///
/// An article is an entry of `articles`: its HTML is the value, and what is listed of it the metadata. Its images are entries
/// of `articles.images` that belong to it, so they leave when it does, in the same transaction; one that several articles show
/// belongs to all of them. An edited article is stale: it is fetched when it is opened, and served if that fails.
struct ArticleShelf: Sendable {
  let store: Store
  let articles: Cache<String>
  let images: Cache<[UInt8]>
  let users: Store.Namespace
  let syncs: Cache<SyncMark>
  private let settingsCache: Cache<OfflineSettings>

  private static let settingsKey = "offline"

  /// As long as anybody waits for a network.
  static let ever = Duration.days(36_500)

  init(in store: Store) {
    self.store = store
    articles = store.cache(TextCodec(), in: "articles", memory: MemoryLimits.off)
    images = store.cache(BytesCodec(), in: "articles.images", memory: MemoryLimits.off)
    users = store.namespace("articles.user")
    syncs = store.cache(of: SyncMark.self, in: "articles.sync")
    settingsCache = store.cache(of: OfflineSettings.self, in: "articles.settings")
  }

  /// As they are now: whoever keeps something asks at that moment, as another process may have changed them.
  func settings() throws -> OfflineSettings {
    try settingsCache.value(for: Self.settingsKey) ?? OfflineSettings()
  }

  func set(_ settings: OfflineSettings) throws {
    try settingsCache.set(settings, for: Self.settingsKey)
  }

  func article(_ id: String) throws -> StoredArticle? {
    try articles.entry(for: id).flatMap(StoredArticle.init)
  }

  /// Whether there is something to read under the id; nothing is read, counted or written for that.
  func has(_ id: String) throws -> Bool { try article(id) != nil }

  /// All that is kept, newest first. No HTML is read.
  func list() throws -> [StoredArticle] {
    var articles: [StoredArticle] = []
    var cursor: PageCursor?
    repeat {
      let page = try self.articles.page(limit: 100, after: cursor)
      articles += page.items.compactMap(StoredArticle.init)
      cursor = page.next
    } while cursor != nil
    return articles.newestFirst()
  }

  /// Notes which articles are not what the service has any more.
  func noteEdits(in listed: [Bookmark]) throws {
    for bookmark in listed {
      guard let known = try article(bookmark.id), !known.isEdited,
        bookmark.isEdited(since: known.bookmark)
      else { continue }
      try articles.expire(bookmark.id, .at(store.now))
    }
  }

  /// Lets the oldest go until there is room for one more within the limit.
  ///
  /// The namespace's own limit would let those go that were written first, and the newest are written first.
  /// - Parameter listed: those that the service lists; they go last.
  func makeRoom(for id: String, keeping listed: Set<String>) throws {
    let limit = try settings().limit
    guard limit > 0, try articles.count() >= limit, try !has(id) else { return }
    try letGo(of: list(), downTo: limit - 1, keeping: listed)
  }

  private func letGo(
    of stored: [StoredArticle], downTo count: Int, keeping listed: Set<String> = []
  ) throws {
    let others = stored.filter { !listed.contains($0.bookmark.id) }
    let candidates = stored.filter { listed.contains($0.bookmark.id) } + others
    let leaving = candidates.suffix(max(0, stored.count - count))
    guard !leaving.isEmpty else { return }
    try store.write { batch in
      for article in leaving { try batch.remove(article.bookmark.id, from: articles) }
    }
  }

  /// Makes the limits those of the settings; what they leave no room for goes, the oldest first.
  func obey() throws {
    let settings = try settings()
    let rules = Rules(
      expires: .never, stale: Self.ever, limits: Limits(entries: settings.limit), eviction: .fifo)
    // An image never drives out another: its article would lose it.
    let imageRules = Rules(limits: Limits(bytes: settings.imageBytes), eviction: .refuse)
    if try articles.namespace.info()?.declared == rules,
      try images.namespace.info()?.declared == imageRules
    {
      return
    }
    if settings.limit == 0 { try clear() }
    if settings.imageBytes == 0 { try images.clear() }
    try letGo(of: list(), downTo: settings.limit)
    if try (images.namespace.info()?.bytes ?? 0) > settings.imageBytes {
      try leaveOutImages(downTo: settings.imageBytes)
    }
    try store.declare(rules, for: articles.name)
    try store.declare(imageRules, for: images.name)
  }

  /// Everything goes at once.
  func clear() throws {
    try store.write { batch in
      _ = try batch.clear(articles.name)
      _ = try batch.clear(images.name)
    }
  }
}
