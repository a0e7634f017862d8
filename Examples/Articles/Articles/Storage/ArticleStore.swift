import Larder
import Service

/// The stored articles of a user.
///
/// An article is an entry of `articles`: its HTML is the value, its bookmark the metadata. Its images are entries of
/// `articles.images` that it owns, so they are removed with it in one transaction; an image of several articles has several
/// owners. An edited article is stale: it is fetched when it is opened, and served if that fails.
///
/// The store itself evicts neither articles nor images: the oldest article is removed when a newer one needs the room.
struct ArticleStore: Sendable {
  let store: Store
  let realm: Realm

  var articles: Cache<String> {
    store.cache(TextCodec(), in: realm.name("articles"), memory: MemoryLimits.off)
  }
  var images: Cache<[UInt8]> {
    store.cache(BytesCodec(), in: realm.name("articles.images"), memory: MemoryLimits.off)
  }
  var syncs: Cache<SyncRecord> {
    store.cache(of: SyncRecord.self, in: realm.name("articles.sync"), rules: .userData)
  }
  var outbox: Cache<PendingEdit> {
    store.cache(of: PendingEdit.self, in: realm.name("articles.outbox"), rules: .userData)
  }
  private var settingsCache: Cache<OfflineSettings> {
    store.cache(
      of: OfflineSettings.self, in: realm.name("articles.settings"), rules: .userData)
  }

  private static let settingsKey = "offline"
  private static let syncKey = "last sync"

  static let ever = Duration.days(36_500)

  /// Another process may change them at any time, so they are read before each use.
  func settings() throws -> OfflineSettings {
    try settingsCache.value(for: Self.settingsKey) ?? OfflineSettings()
  }

  func set(_ settings: OfflineSettings) async throws {
    try await settingsCache.set(settings, for: Self.settingsKey)
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
    return articles.sorted { $0.bookmark.isNewer(than: $1.bookmark) }
  }

  /// Marks the stored articles that the service has changed as stale.
  func noteEdits(in listed: [Bookmark]) async throws {
    for bookmark in listed {
      guard let known = try article(bookmark.id), !known.isEdited,
        bookmark.isEdited(since: known.bookmark)
      else { continue }
      try await refetch(bookmark.id)
    }
  }

  /// Marks a stored article as stale: the next sync fetches it.
  func refetch(_ id: String) async throws {
    try await articles.touch(id, expires: .at(store.now))
  }

  /// The most articles that can be stored: the user's limit, or an operator's if that is lower.
  func limit() throws -> Int {
    min(try settings().limit, try articles.namespace.info()?.rules.limits.entries ?? .max)
  }

  /// Removes articles until there is room for one more within the limit, as ``removeOldest(for:keeping:)`` chooses them.
  func makeRoom(for bookmark: Bookmark, keeping listed: Set<String>) async throws {
    let limit = try limit()
    guard limit > 0, try !has(bookmark.id) else { return }
    while try articles.count() >= limit {
      guard try await removeOldest(for: bookmark, keeping: listed) != nil else { return }
    }
  }

  /// Removes the oldest article that the service does not list; if it lists all, the oldest one that is older than `bookmark`.
  /// Returns it; nil if there is none.
  func removeOldest(
    for bookmark: Bookmark, keeping listed: Set<String>
  ) async throws -> Bookmark? {
    let stored = try list().map(\.bookmark).filter { $0.id != bookmark.id }
    let oldest =
      stored.last { !listed.contains($0.id) }
      ?? stored.last.flatMap { last in bookmark.isNewer(than: last) ? last : nil }
    if let oldest { try await articles.remove(oldest.id) }
    return oldest
  }

  /// Declares the limits of the settings, and removes the oldest articles and images beyond them.
  func applySettings() throws {
    let settings = try settings()
    let rules = Rules(
      expires: .never, stale: Self.ever, limits: Limits(entries: settings.limit), eviction: .refuse)
    // An image never evicts another, which would break that one's article.
    let imageRules = Rules(limits: Limits(bytes: settings.imageBytes), eviction: .refuse)
    if try articles.namespace.info()?.declared == rules,
      try images.namespace.info()?.declared == imageRules
    {
      return
    }
    if settings.imageBytes == 0 { try images.clear() }
    if settings.limit == 0 { try clear([articles.name, images.name]) }
    let leaving = try list().dropFirst(settings.limit)
    try store.write { batch in
      for article in leaving { try batch.remove(article.bookmark.id, from: articles) }
    }
    try leaveOutImages(downTo: settings.imageBytes)
    try store.declare(rules, for: articles.name)
    try store.declare(imageRules, for: images.name)
  }

  func syncRecord() throws -> SyncRecord? { try syncs.value(for: Self.syncKey) }

  /// Makes the record before the articles take the last room; later it is only overwritten.
  func beginSync() async throws {
    if try syncRecord() == nil { try await syncs.set(SyncRecord(), for: Self.syncKey) }
  }

  /// - Parameters:
  ///   - isSuccess: whether its time becomes that of the last sync.
  ///   - refusal: the article without room.
  func endSync(isSuccess: Bool, refusal: SyncRecord.Refusal?) throws {
    try store.write { batch in
      guard let before = try batch.value(for: Self.syncKey, in: syncs) else { return }
      let record = SyncRecord(moment: isSuccess ? store.now : before.moment, refusal: refusal)
      if record != before { try batch.set(record, for: Self.syncKey, in: syncs) }
    }
  }

  /// Removes all data of the user but the settings. Loads under way, in any process, store nothing afterwards.
  func removeAll() throws { try clear([articles.name, images.name, syncs.name, outbox.name]) }

  private func clear(_ names: [String]) throws {
    try store.write { batch in
      for name in names { _ = try batch.clear(store.namespace(name)) }
    }
  }
}
