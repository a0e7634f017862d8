import Larder
import LarderHTTP

/// The stored data of one user of one server, with the rules of their namespaces.
extension ArticleReader {
  static let ever = Duration.days(36_500)

  /// The HTML of articles. The metadata of an entry is a ``StoredArticle``. If the service has changed an article, its entry is
  /// stale: the article is fetched when the user opens it, and the stored version is served if the fetch fails.
  var articles: Cache<String> {
    store.cache(TextCodec(), in: realm.name(of: "articles"), memory: MemoryLimits.off)
  }
  /// Images. Each article that shows an image is its owner. The removal of the last owner also removes the image in one commit.
  var images: Cache<[UInt8]> {
    realm.cache(of: [UInt8].self, in: "articles.images", memory: MemoryLimits.off)
  }
  var outbox: Cache<PendingEdit> { userData("outbox") }
  /// One entry: the time of the last sync, or no time before the first sync. A removal of the entry ends a sync in any process.
  var syncs: Cache<[Timestamp]> { userData("sync") }
  var settingsCache: Cache<OfflineSettings> { userData("settings") }

  private func userData<Value: Codable & Sendable>(_ name: String) -> Cache<Value> {
    realm.cache(of: Value.self, in: "articles." + name, rules: .userData)
  }

  /// The settings. Another process may change the settings at any time, so read them before each use.
  public func settings() throws -> OfflineSettings {
    try settingsCache.value(for: "offline") ?? OfflineSettings()
  }

  /// Declares the limits of the settings, and removes the oldest articles and images that exceed them. The store must not evict
  /// by itself, because the eviction of one image would leave an article with missing images.
  func applySettings() throws {
    let settings = try settings()
    let rules = Rules(
      expires: .never, stale: Self.ever, limits: Limits(entries: settings.limit), eviction: .refuse)
    let imageRules = Rules(limits: Limits(bytes: settings.imageBytes), eviction: .refuse)
    let declared = [try articles.namespace.info()?.declared, try images.namespace.info()?.declared]
    if declared == [rules, imageRules] { return }
    if settings.limit == 0 { try clear(articles.namespace, images.namespace) }
    if settings.imageBytes == 0 { try clear(images.namespace) }
    let leaving = try storedArticles().dropFirst(settings.limit)
    try store.write { batch in
      for article in leaving { try batch.remove(article.bookmark.id, from: articles) }
    }
    for article in try storedArticles().reversed()
    where !article.images.isEmpty && !article.lacksImages {
      guard try images.namespace.info()?.bytes ?? 0 > settings.imageBytes else { break }
      try settle(article, imageLimit: settings.imageBytes)
    }
    try store.declare(rules, for: articles.name)
    try store.declare(imageRules, for: images.name)
  }

  /// A stored article; nil if the article is not stored. Does not read the HTML, counts no read and writes nothing.
  func storedArticle(_ id: String) throws -> StoredArticle? {
    try articles.entry(for: id).flatMap(StoredArticle.init)
  }

  /// All stored articles, newest first. Does not read the HTML.
  func storedArticles() throws -> [StoredArticle] {
    // At most 100 articles are stored, so one page contains all of them.
    try articles.namespace.page(limit: 1_000).items.compactMap(StoredArticle.init)
      .sorted { $0.bookmark.isNewer(than: $1.bookmark) }
  }

  /// Clears the namespaces in one transaction. Loads that run at this time, in any process, then store nothing.
  func clear(_ namespaces: Store.Namespace...) throws {
    try store.write { batch in
      for namespace in namespaces { _ = try batch.clear(namespace) }
    }
  }

  func owner(_ id: String) -> Owner { Owner(Key(id), in: articles.name) }

  /// Notes the limit that the images of an article exceed, or nil if the images fit. With a limit, the article owns no images.
  /// Without a limit, it owns the images of its stored version. An image without an owner is removed.
  func settle(_ article: StoredArticle, imageLimit limit: Int?) throws {
    let id = article.bookmark.id
    try store.write { batch in
      var stored = try batch.entry(for: id, in: articles.namespace).flatMap(StoredArticle.init)
      // Another version may have been stored meanwhile, and its images may fit. So nothing is noted for another version.
      if stored?.images == article.images, stored?.imageLimit != limit {
        stored?.imageLimit = limit
        try batch.setMetadata(stored?.encoded(), of: id, in: articles.namespace)
      }
      let shown = Set(stored?.imageLimit == nil ? stored?.images ?? [] : [])
      for address in article.images {
        guard let known = try batch.entry(for: address, in: images.namespace) else { continue }
        var owners = known.owners.filter { $0 != owner(id) }
        if shown.contains(address) { owners.append(owner(id)) }
        if owners.isEmpty {
          try batch.remove(address, from: images.namespace)
        } else if owners != known.owners {
          try batch.setOwners(owners, of: address, in: images.namespace)
        }
      }
    }
  }
}
