import Larder
import LarderHTTP
import Service

/// The stored data of one user of one server, with their rules.
struct ArticleStore: Sendable {
  let store: Store
  let realm: Realm

  static let ever = Duration.days(36_500)

  /// The HTML of articles; the metadata is ``StoredArticle/Notes``. An edited article is stale: opening fetches it, and serves
  /// the stored version if the fetch fails.
  var articles: Cache<String> {
    store.cache(TextCodec(), in: realm.name(of: "articles"), memory: MemoryLimits.off)
  }
  /// Images. All articles that show an image own it: the removal of the last owner also removes the image, in one transaction.
  var images: Cache<[UInt8]> {
    realm.cache(of: [UInt8].self, in: "articles.images", memory: MemoryLimits.off)
  }
  /// The service's lists, which follow the rules of HTTP.
  var answers: Store.Namespace { realm.namespace("articles.http") }
  var outbox: Cache<PendingEdit> {
    realm.cache(of: PendingEdit.self, in: "articles.outbox", rules: .userData)
  }
  /// One entry: the record of the last sync. Its removal ends a sync under way, in any process.
  var syncs: Cache<SyncRecord> {
    realm.cache(of: SyncRecord.self, in: "articles.sync", rules: .userData)
  }
  var settingsCache: Cache<OfflineSettings> {
    realm.cache(of: OfflineSettings.self, in: "articles.settings", rules: .userData)
  }

  /// The settings. Another process may change them at any time, so they are read before each use.
  func settings() throws -> OfflineSettings {
    try settingsCache.value(for: "offline") ?? OfflineSettings()
  }

  /// Declares the limits of the settings, and removes the oldest articles and images beyond the limits. The store itself evicts
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
    let leaving = try list().dropFirst(settings.limit)
    try store.write { batch in
      for article in leaving { try batch.remove(article.bookmark.id, from: articles) }
    }
    for article in try list().reversed() where !article.images.isEmpty && !article.lacksImages {
      guard try (images.namespace.info()?.bytes ?? 0) > settings.imageBytes else { break }
      try note(imageLimit: settings.imageBytes, of: article)
    }
    try store.declare(rules, for: articles.name)
    try store.declare(imageRules, for: images.name)
  }

  /// A stored article; nil if it is absent. Reads no HTML, counts no read and writes nothing.
  func article(_ id: String) throws -> StoredArticle? {
    try articles.entry(for: id).flatMap(StoredArticle.init)
  }

  /// All stored articles, newest first. Reads no HTML.
  func list() throws -> [StoredArticle] {
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

  /// Makes an article an owner of the images that it shows and has room for, and of no other images. An image without owners is
  /// removed.
  func settle(_ addresses: [String], of id: String, in batch: inout WriteBatch) throws {
    let notes = try batch.entry(for: id, in: articles.namespace).flatMap(StoredArticle.init)?.notes
    let shown = Set(notes?.imageLimit == nil ? notes?.images ?? [] : [])
    for address in addresses {
      guard let known = try batch.entry(for: address, in: images.namespace) else { continue }
      let others = known.owners.filter { $0 != owner(id) }
      let owners = shown.contains(address) ? others + [owner(id)] : others
      if owners.isEmpty {
        try batch.remove(address, from: images.namespace)
      } else if owners.count != known.owners.count {
        try batch.setOwners(owners, of: address, in: images.namespace)
      }
    }
  }

  /// Notes the limit that an article's images exceed, and removes the images; nil allows images again. Does nothing if the
  /// stored version has other images.
  func note(imageLimit limit: Int?, of article: StoredArticle) throws {
    let id = article.bookmark.id
    try store.write { batch in
      let entry = try batch.entry(for: id, in: articles.namespace)
      guard var notes = entry.flatMap(StoredArticle.init)?.notes, notes.images == article.images
      else { return }
      notes.imageLimit = limit
      try batch.setMetadata(notes.encoded(), of: id, in: articles.namespace)
      try settle(article.images, of: id, in: &batch)
    }
  }
}
