import Larder
import Service

/// The stored articles of a user.
///
/// An article is an entry of `articles`: its HTML is the value, its bookmark the metadata. Its images are entries of
/// `articles.images` that it owns, so they are removed with it in one transaction; an image of several articles has several
/// owners. An edited article is stale: it is fetched when it is opened, and served if that fails.
///
/// Neither articles nor images are evicted by the store: the shelf removes the oldest article when a newer one needs the
/// room. Settings, users and the outbox are user data, which is never evicted.
struct ArticleShelf: Sendable {
  let store: Store
  let articles: Cache<String>
  let images: Cache<[UInt8]>
  let users: Store.Namespace
  let syncs: Cache<SyncMark>
  let outbox: Cache<PendingEdit>
  private let settingsCache: Cache<OfflineSettings>

  private static let settingsKey = "offline"

  static let ever = Duration.days(36_500)

  init(in store: Store, realm: Realm = .open) {
    self.store = store
    articles = store.cache(TextCodec(), in: realm.name("articles"), memory: MemoryLimits.off)
    images = store.cache(BytesCodec(), in: realm.name("articles.images"), memory: MemoryLimits.off)
    users = store.namespace(realm.name("articles.user"))
    syncs = store.cache(of: SyncMark.self, in: realm.name("articles.sync"), rules: .userData)
    outbox = store.cache(
      of: PendingEdit.self, in: realm.name("articles.outbox"), rules: .userData)
    settingsCache = store.cache(
      of: OfflineSettings.self, in: "articles.settings", rules: .userData)
  }

  /// Another process may change them at any time, so they are read before each use.
  func settings() throws -> OfflineSettings {
    try settingsCache.value(for: Self.settingsKey) ?? OfflineSettings()
  }

  func set(_ settings: OfflineSettings) throws {
    try settingsCache.set(settings, for: Self.settingsKey)
  }

  func article(_ id: String) throws -> StoredArticle? {
    try articles.entry(for: id).flatMap(StoredArticle.init)
  }

  /// Whether the article is stored. Reads no HTML, counts no read and writes nothing.
  func has(_ id: String) throws -> Bool { try article(id) != nil }

  /// The stored HTML, edited at the service meanwhile or not; nil if it is not stored.
  func html(of id: String) async throws -> String? {
    do {
      let options = LoadOptions(policy: .cacheOnly, stale: .onError(Self.ever))
      return try await articles.revalidatedResult(for: id, options: options) { _ in .absent }?.value
    } catch let error as LarderError where error.code == .notStored {
      return nil
    }
  }

  /// All stored articles, newest first. Reads no HTML.
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

  /// Marks the stored articles that the service has changed as stale.
  func noteEdits(in listed: [Bookmark]) throws {
    for bookmark in listed {
      guard let known = try article(bookmark.id), !known.isEdited,
        bookmark.isEdited(since: known.bookmark)
      else { continue }
      try articles.expire(bookmark.id, .at(store.now))
    }
  }

  /// The most articles that can be stored: the user's limit, or an operator's if that is lower.
  func limit() throws -> Int {
    min(try settings().limit, try articles.namespace.info()?.rules.limits.entries ?? .max)
  }

  /// Removes the oldest articles until there is room for one more within the limit.
  ///
  /// - Parameter listed: the articles that the service lists; they are removed last.
  func makeRoom(for id: String, keeping listed: Set<String>) throws {
    let limit = try limit()
    guard limit > 0, try articles.count() >= limit, try !has(id) else { return }
    try remove(list(), downTo: limit - 1, keeping: listed)
  }

  /// Removes the oldest stored article that is older than `bookmark`; returns it, or nil if there is none.
  func giveUpOldest(for bookmark: Bookmark) throws -> Bookmark? {
    guard let oldest = try list().last?.bookmark, bookmark.isNewer(than: oldest) else { return nil }
    try articles.namespace.remove(oldest.id)
    return oldest
  }

  private func remove(
    _ stored: [StoredArticle], downTo count: Int, keeping listed: Set<String> = []
  ) throws {
    let others = stored.filter { !listed.contains($0.bookmark.id) }
    let candidates = stored.filter { listed.contains($0.bookmark.id) } + others
    let leaving = candidates.suffix(max(0, stored.count - count))
    guard !leaving.isEmpty else { return }
    try store.write { batch in
      for article in leaving { try batch.remove(article.bookmark.id, from: articles) }
    }
  }

  /// Applies the settings: declares the limits, and removes the oldest articles and images beyond them.
  func obey() throws {
    let settings = try settings()
    let rules = Rules(
      expires: .never, stale: Self.ever, limits: Limits(entries: settings.limit),
      eviction: .refuse)
    // An image never evicts another, which would break that one's article.
    let imageRules = Rules(limits: Limits(bytes: settings.imageBytes), eviction: .refuse)
    if try articles.namespace.info()?.declared == rules,
      try images.namespace.info()?.declared == imageRules
    {
      return
    }
    try store.declare(.userData, for: users.name)
    if settings.limit == 0 { try clear() }
    if settings.imageBytes == 0 { try images.clear() }
    try remove(list(), downTo: settings.limit)
    if try (images.namespace.info()?.bytes ?? 0) > settings.imageBytes {
      try leaveOutImages(downTo: settings.imageBytes)
    }
    try store.declare(rules, for: articles.name)
    try store.declare(imageRules, for: images.name)
  }

  /// Removes all articles and images in one transaction.
  func clear() throws {
    try store.write { batch in
      _ = try batch.clear(articles.name)
      _ = try batch.clear(images.name)
    }
  }
}
