import HTTPTypes
public import Larder
public import LarderHTTP
import Service
import Synchronization

/// The articles of one user, with or without a network.
public final class ArticleReader: Sendable {
  struct Work {
    var sync: SyncRun?
    /// The tasks that fetch the images of opened articles.
    var images: [Task<Void, Never>] = []
  }

  let store: Store
  let realm: Realm
  /// The lists of the service, stored by the rules of HTTP.
  let answers: Store.Namespace
  let readeck: Service
  let work = Mutex(Work())
  let pauses: [Duration]

  /// - Parameters:
  ///   - base: The address of the API, such as `https://readeck.example.com/api`.
  ///   - token: The user's token. Each user of each server has separate data.
  ///   - log: Called for every lookup and every request.
  ///   - pauses: The pauses before an image is requested again.
  public init(
    in store: Store, at base: String, token: String, over transport: any HTTPTransport,
    log: (@Sendable (String) -> Void)? = nil,
    pauses: [Duration] = [.milliseconds(500), .seconds(2)]
  ) {
    (self.store, self.pauses) = (store, pauses)
    realm = store.realm(of: "\(Service.base(base)) \(token)")
    answers = realm.namespace("articles.http")
    // Without a network, the stored articles replace the list, so an old list must not be served.
    let policy = HTTPCachePolicy(whenDisconnected: .zero)
    let cache = HTTPCache(in: answers, over: transport, policy: policy)
    var readeck = Service(at: base, over: cache)
    readeck.fields = [.authorization: "Bearer \(token)"]
    readeck.message = { $0["message"]?.text }
    readeck.log = log
    self.readeck = readeck
  }

  /// The name of the namespace of articles.
  public var name: String { articles.name }

  /// Changes the settings immediately, even for a running sync. A running sync ends if offline reading is switched off.
  public func change(_ settings: OfflineSettings) async throws {
    try await settingsCache.set(settings, for: "offline")
    try applySettings()
    if !settings.isOn { try clear(syncs.namespace) }
  }

  /// The newest unread articles of the service. Without a network, the list has the stored articles, and `isOffline` is true.
  public func unread(limit: Int = 50) async throws -> ArticleList {
    let requested = store.now
    do {
      var listed = try await readeck.unread(limit: limit)
      // If there is no room to mark articles as stale, nothing is lost: the next sync compares the dates again.
      _ = try await unless(.full) { [listed] in try await noteEdits(in: listed, before: requested) }
      let edits = try edits()
      listed.bookmarks = listed.bookmarks.compactMap { edits.applied(to: $0, since: requested) }
      return listed
    } catch let error as ServiceError where error.isOffline {
      let stored = try stored().map(\.bookmark).filter { !$0.isArchived }
      guard !stored.isEmpty else { throw ArticlesError.nothingStored }
      return ArticleList(bookmarks: stored, isOffline: true)
    }
  }

  /// Makes stored articles stale if the service has changed them, except articles that were fetched after the request. If an
  /// article has a time in the future, the clock was wrong, so the article counts as fetched before the request. Dates
  /// are only compared for equality, because the service's times go back if its clock was set or a backup was restored.
  func noteEdits(in listed: ArticleList, before requested: Timestamp) async throws {
    for bookmark in listed.bookmarks {
      guard let known = try storedArticle(bookmark.id), !known.isEdited,
        !(known.requested > requested && known.requested <= store.now),
        known.bookmark.updated != bookmark.updated
      else { continue }
      try await articles.touch(bookmark.id, expires: .at(store.now))
    }
  }

  /// The stored articles with the user's changes, newest first. Does not read the HTML.
  public func stored() throws -> [StoredArticle] {
    let edits = try edits()
    return try storedArticles().compactMap { article -> StoredArticle? in
      var seen = article
      let bookmark = edits.applied(to: article.bookmark, since: article.requested)
      seen.bookmark = bookmark ?? article.bookmark
      return bookmark == nil ? nil : seen
    }
  }

  /// Whether the article can be read without a network. Does not read the HTML, counts no read and writes nothing.
  public func hasCachedArticle(_ id: String) throws -> Bool { try storedArticle(id) != nil }

  public func usage() throws -> ArticleUsage {
    let html = try articles.namespace.info()
    let images = try self.images.namespace.info()
    return ArticleUsage(
      articles: html?.entries ?? 0, htmlBytes: html?.bytes ?? 0, images: images?.entries ?? 0,
      imageBytes: images?.bytes ?? 0, lastSync: try syncs.value(for: "last sync")?.last)
  }

  /// Waits for a running sync, and for the images of opened articles. Call this before you close the store.
  public func finish() async {
    let (sync, images) = work.withLock { work in
      defer { work.images = [] }
      return (work.sync, work.images)
    }
    _ = await sync?.result()
    for task in images { await task.value }
  }

  /// Removes all data of the user except the settings, even changes that were not sent. Ends a running sync in any process.
  public func signOut() async throws {
    try clear(articles.namespace, images.namespace, answers, outbox.namespace, syncs.namespace)
    work.withLock { work in
      work.sync?.cancel()
      for task in work.images { task.cancel() }
    }
    await finish()
  }
}
