import Larder
import LarderHTTP
import Service

/// The stored data of one user of one server, with their rules.
extension ArticleReader {
  static let ever = Duration.days(36_500)

  /// The HTML of articles; the metadata is a ``StoredArticle``. An edited article is stale: opening fetches it, and serves
  /// the stored version if the fetch fails.
  var articles: Cache<String> {
    store.cache(TextCodec(), in: realm.name(of: "articles"), memory: MemoryLimits.off)
  }
  /// Images. All articles that show an image own it: the removal of the last owner also removes the image, in one transaction.
  var images: Cache<[UInt8]> {
    realm.cache(of: [UInt8].self, in: "articles.images", memory: MemoryLimits.off)
  }
  var outbox: Cache<PendingEdit> { userData("outbox") }
  /// One entry: the time of the last sync, if any. The removal of the entry ends a sync under way, in any process.
  var syncs: Cache<[Timestamp]> { userData("sync") }
  var settingsCache: Cache<OfflineSettings> { userData("settings") }

  private func userData<Value: Codable & Sendable>(_ name: String) -> Cache<Value> {
    realm.cache(of: Value.self, in: "articles." + name, rules: .userData)
  }

  /// The settings. Another process may change them at any time, so they are read before each use.
  public func settings() throws -> OfflineSettings {
    try settingsCache.value(for: "offline") ?? OfflineSettings()
  }

  /// Declares the limits of the settings, and removes the oldest articles and images beyond them. The store itself evicts
  /// nothing: an eviction of one image would break its article.
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

  /// A stored article; nil if it is absent. Reads no HTML, counts no read and writes nothing.
  func storedArticle(_ id: String) throws -> StoredArticle? {
    try articles.entry(for: id).flatMap(StoredArticle.init)
  }

  /// All stored articles, newest first. Reads no HTML.
  func storedArticles() throws -> [StoredArticle] {
    // One page has room for the largest limit of articles.
    try articles.namespace.page(limit: 1_000).items.compactMap(StoredArticle.init)
      .sorted { $0.bookmark.isNewer(than: $1.bookmark) }
  }

  /// Clears the namespaces in one transaction. Loads under way, in any process, store nothing afterwards.
  func clear(_ namespaces: Store.Namespace...) throws {
    try store.write { batch in
      for namespace in namespaces { _ = try batch.clear(namespace) }
    }
  }

  func owner(_ id: String) -> Owner { Owner(Key(id), in: articles.name) }

  /// Notes the limit that an article's images exceed, if any. The article then owns the images that its stored version shows,
  /// or none under a limit. An image without owners is removed.
  func settle(_ article: StoredArticle, imageLimit limit: Int?) throws {
    let id = article.bookmark.id
    try store.write { batch in
      var stored = try batch.entry(for: id, in: articles.namespace).flatMap(StoredArticle.init)
      // Another version may be stored meanwhile.
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
