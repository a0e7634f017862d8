import HTTPTypes
public import Larder
public import LarderHTTP
import Service
import Synchronization

/// The articles of one user, with or without a network.
public final class ArticleReader: Sendable {
  struct Work {
    var sync: SyncRun?
    /// The tasks that fetch images of opened articles.
    var images: [Task<Void, Never>] = []
  }

  let store: Store
  let realm: Realm
  /// The service's lists, which follow the rules of HTTP.
  let answers: Store.Namespace
  let readeck: Readeck
  let work = Mutex(Work())
  let report: @Sendable (any Error) -> Void
  let pauses: [Duration]

  /// - Parameters:
  ///   - base: `https://readeck.example.com/api`.
  ///   - token: the user's token. Each user of each server has data of its own.
  ///   - log: called for every lookup and request.
  ///   - report: called with the reason why an opened article, or its images, could not be stored.
  ///   - pauses: the pauses before an image is requested again.
  public init(
    in store: Store, at base: String, token: String, over transport: any HTTPTransport,
    log: (@Sendable (String) -> Void)? = nil,
    report: @escaping @Sendable (any Error) -> Void = { _ in },
    pauses: [Duration] = [.milliseconds(500), .seconds(2)]
  ) {
    (self.store, self.report, self.pauses) = (store, report, pauses)
    realm = store.realm(of: "\(Service.base(base)) \(token)")
    answers = realm.namespace("articles.http")
    // Without a network, an old list must not replace the list of stored articles.
    let policy = HTTPCachePolicy(whenDisconnected: .zero)
    let cache = HTTPCache(in: answers, over: transport, policy: policy)
    var service = Service(at: base, over: cache)
    service.fields = [.authorization: "Bearer \(token)"]
    service.message = { $0["message"]?.text }
    service.log = log
    readeck = Readeck(service: service, isDisconnected: transport is Disconnected)
  }

  /// The name of the namespace of articles.
  public var name: String { articles.name }

  /// Changes the settings at once, also for a sync under way, which ends if offline reading is off.
  public func change(_ settings: OfflineSettings) async throws {
    try await settingsCache.set(settings, for: "offline")
    try applySettings()
    if !settings.isOn { try clear(syncs.namespace) }
  }

  /// The newest unread articles of the service. Without a network, the list has the stored articles, and says so.
  public func unread(limit: Int = 50) async throws -> ArticleList {
    let requested = store.now
    do {
      let listed = try await readeck.unread(limit: limit)
      // If there is no room to mark articles as edited, the next sync compares the dates again.
      _ = try await ifRoom { try await noteEdits(in: listed, before: requested) }
      return listed
    } catch let error as ServiceError where error.isOffline {
      let stored = try stored().map(\.bookmark).filter { !$0.isArchived }
      guard !stored.isEmpty else { throw ArticlesError.nothingStored }
      return ArticleList(bookmarks: stored, isOffline: true)
    }
  }

  /// Marks stored articles that the service has changed as stale, except articles fetched since the request. The service's times
  /// may go back, after its clock was set or a backup restored.
  func noteEdits(in listed: ArticleList, before requested: Timestamp) async throws {
    for bookmark in listed.bookmarks {
      guard let known = try storedArticle(bookmark.id), !known.isEdited,
        known.requested <= requested, known.bookmark.updated != bookmark.updated
      else { continue }
      try await articles.touch(bookmark.id, expires: .at(store.now))
    }
  }

  /// The stored articles as the user has changed them, newest first. Reads no HTML.
  public func stored() throws -> [StoredArticle] {
    let edits = try edits()
    return try storedArticles().compactMap { article -> StoredArticle? in
      var seen = article
      let bookmark = edits.applied(to: article.bookmark, since: article.requested)
      seen.bookmark = bookmark ?? article.bookmark
      return bookmark == nil ? nil : seen
    }
  }

  /// Whether the article can be read without a network. Reads no HTML, counts no read and writes nothing.
  public func hasCachedArticle(_ id: String) throws -> Bool { try storedArticle(id) != nil }

  public func usage() throws -> ArticleUsage {
    let html = try articles.namespace.info()
    let images = try self.images.namespace.info()
    return ArticleUsage(
      articles: html?.entries ?? 0, htmlBytes: html?.bytes ?? 0, images: images?.entries ?? 0,
      imageBytes: images?.bytes ?? 0, lastSync: try syncs.value(for: "last sync")?.last)
  }

  /// Waits for the sync and for the images of opened articles. Call it before you close the store.
  public func finish() async {
    let (sync, images) = work.withLock { work in
      defer { work.images = [] }
      return (work.sync, work.images)
    }
    _ = await sync?.result()
    for task in images { await task.value }
  }

  /// Removes all data of the user, also unsent changes, but not the settings. A sync under way ends, in any process.
  public func signOut() async throws {
    try clear(
      articles.namespace, images.namespace, answers, outbox.namespace, syncs.namespace)
    work.withLock { work in
      work.sync?.cancel()
      for task in work.images { task.cancel() }
    }
    await finish()
  }
}
