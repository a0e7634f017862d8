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
  let shown = ShownImages()

  private func name(_ namespace: String) -> String { realm.name(namespace, in: store) }

  var articles: Cache<String> {
    store.cache(TextCodec(), in: name("articles"), memory: MemoryLimits.off)
  }
  var images: Cache<[UInt8]> {
    store.cache(of: [UInt8].self, in: name("articles.images"), memory: MemoryLimits.off)
  }
  var syncs: Cache<SyncRecord> {
    store.cache(of: SyncRecord.self, in: name("articles.sync"), rules: .userData)
  }
  var outbox: Cache<PendingEdit> {
    store.cache(of: PendingEdit.self, in: name("articles.outbox"), rules: .userData)
  }
  /// The changes that were sent lately, each under its article and field: a list that a sync has fetched before lacks them.
  var sent: Cache<PendingEdit> {
    store.cache(
      of: PendingEdit.self, in: name("articles.sent"), rules: Rules(expires: .after(.days(1)))
    )
  }
  /// The articles that were too large when they were fetched last.
  var oversized: Cache<OversizedArticle> {
    store.cache(
      of: OversizedArticle.self, in: name("articles.oversized"),
      rules: Rules(expires: .after(Self.absence)))
  }
  private var settingsCache: Cache<OfflineSettings> {
    store.cache(
      of: OfflineSettings.self, in: name("articles.settings"), rules: .userData)
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
      let options = LoadOptions(policy: .cacheOnly, stale: Staleness(onError: Self.ever))
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
      let page = try self.articles.namespace.page(limit: 100, after: cursor)
      articles += page.items.compactMap(StoredArticle.init)
      cursor = page.next
    } while cursor != nil
    return articles.sorted { $0.bookmark.isNewer(than: $1.bookmark) }
  }

  /// Marks the stored articles that the service has changed as stale, but none that were stored after the bookmarks were
  /// requested.
  func noteEdits(in bookmarks: [Bookmark], before began: Timestamp) async throws {
    for bookmark in bookmarks {
      guard let known = try article(bookmark.id), !known.isEdited, known.written <= began,
        bookmark.isEdited(since: known.bookmark)
      else { continue }
      try await refetch(bookmark.id)
    }
  }

  /// Removes the stored articles that a whole list of the unread ones lacks: they were archived or deleted elsewhere. Returns
  /// their number.
  ///
  /// - Parameters:
  ///   - isAll: whether the list has all of them; otherwise it has the newest.
  ///   - edited: articles with changes that the list may lack.
  ///   - began: the time before the list was requested. Articles that were stored since may be missing in it.
  func removeUnlisted(
    in listed: [Bookmark], isAll: Bool, but edited: Set<String>, before began: Timestamp
  ) throws -> Int {
    let ids = Set(listed.map(\.id))
    let gone = try list().filter { article in
      let bookmark = article.bookmark
      // Videos and pictures that were opened are stored too, and no list has them.
      guard (bookmark.fields["type"]?.text ?? "article") == "article" else { return false }
      return !ids.contains(bookmark.id) && !bookmark.isArchived && !edited.contains(bookmark.id)
        && article.written <= began && (isAll || listed.last.map(bookmark.isNewer) ?? true)
    }
    try store.write { batch in
      for article in gone { try batch.remove(article.bookmark.id, from: articles) }
    }
    return gone.count
  }

  /// Marks a stored article as stale: the next sync fetches it.
  func refetch(_ id: String) async throws {
    try await articles.touch(id, expires: .at(store.now))
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
  func removeAll() throws {
    try clear([articles.name, images.name, syncs.name, outbox.name, sent.name, oversized.name])
  }

  func clear(_ names: [String]) throws {
    try store.write { batch in
      for name in names { _ = try batch.clear(store.namespace(name)) }
    }
  }
}
