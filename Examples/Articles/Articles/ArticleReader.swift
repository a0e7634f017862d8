public import Larder
import LarderHTTP
import Service

/// The articles of one user, with or without a network.
public final class ArticleReader: Sendable {
  let shelf: ArticleShelf
  let readeck: Readeck
  private let underWay = UnderWay()
  private let report: @Sendable (any Error) -> Void

  /// - Parameter report: called with the reason why an opened article, or its images, could not be stored.
  public init(
    in store: Store, at readeck: Readeck, report: @escaping @Sendable (any Error) -> Void = { _ in }
  ) {
    shelf = ArticleShelf(in: store, realm: readeck.realm)
    self.readeck = readeck
    self.report = report
  }

  /// The name of a namespace of this user, `articles.1f0c2a9b03d4`.
  public static func namespace(_ name: String, at base: String, token: String) -> String {
    token.isEmpty ? name : Realm(base: base, credential: token).name(name)
  }

  public func settings() throws -> OfflineSettings { try shelf.settings() }

  /// Changes the settings and applies them at once: removes the oldest articles and images beyond the limits.
  ///
  /// A sync under way ends, and another one begins if offline reading is on; so do fetches of images.
  public func change(_ settings: OfflineSettings) async throws {
    try shelf.set(settings)
    let ended = await underWay.end()
    try shelf.obey()
    guard settings.isOn else {
      try shelf.syncs.clear()
      return
    }
    if let run = ended.sync { _ = try sync(priority: run.priority) }
    guard !ended.articles.isEmpty, let fetch = try fetchForKeeping() else { return }
    for id in ended.articles { fetchImages(of: id, by: fetch) }
  }

  // MARK: Changes

  private var outbox: Outbox { Outbox(shelf: shelf, readeck: readeck) }

  /// Changes an article here at once, and at the service as soon as it can be reached.
  ///
  /// Throws nothing if the service cannot be reached: the report says so.
  public func edit(_ id: String, _ kind: PendingEdit.Kind) async throws -> OutboxReport {
    _ = try shelf.user()
    try outbox.add(kind, to: id)
    return try await outbox.send()
  }

  /// The changes that the service does not have yet, in their order.
  public func pendingEdits() throws -> [PendingEdit] { try outbox.edits().map(\.edit) }

  /// Sends them, until the service cannot be reached.
  public func sendEdits() async throws -> OutboxReport { try await outbox.send() }

  /// Fetches a stored article again, whether it was edited or not.
  public func refetch(_ id: String) async throws -> Article {
    let bookmark = try await listed { try await $0.bookmark(id) }
    if try shelf.has(id) { try await shelf.articles.expire(id, .at(shelf.store.now)) }
    return try await article(bookmark)
  }

  // MARK: Reading

  /// The newest unread articles of the service; without a network the stored ones, and the list says so.
  ///
  /// Throws ``ArticlesError/signedOut`` if the user signs out meanwhile.
  public func unread(limit: Int = 50) async throws -> ArticleList {
    do {
      let listed = try await listed { try await $0.unread(limit: limit) }
      do {
        try shelf.noteEdits(in: listed.bookmarks)
      } catch let error as LarderError where error.code == .full {
        // Opening an edited article compares the dates again.
      }
      return listed
    } catch let error as ServiceError where error.isOffline {
      let kept = try stored().map(\.bookmark)
      guard !kept.isEmpty else { throw ArticlesError.nothingStored }
      return ArticleList(bookmarks: kept, isOffline: true)
    }
  }

  /// The stored articles, newest first. Reads no HTML.
  public func stored() throws -> [StoredArticle] { try shelf.list() }

  /// Whether the article can be read without a network. Reads no HTML, counts no read and writes nothing.
  public func hasCachedArticle(_ id: String) throws -> Bool { try shelf.has(id) }

  /// An article: from the store, unless it is missing or edited. Then it is fetched and, if there is room, stored. An edited
  /// article that cannot be fetched is returned in its stored version.
  ///
  /// - Parameter bookmark: from the last list.
  public func article(_ bookmark: Bookmark) async throws -> Article {
    guard let fetch = try fetchForKeeping() else { return try await fetched(bookmark) }
    let loaded = try await fetch.html(of: bookmark)
    // A clear during the load is no error, and the article is not stored.
    let isKept = try loaded.source != .loaded || loaded.error == nil && shelf.has(bookmark.id)
    if !isKept, let error = loaded.error { report(error) }
    if isKept, loaded.source == .loaded { fetchImages(of: bookmark.id, by: fetch) }
    return Article(
      bookmark: bookmark, html: loaded.value, isKept: isKept, isOutdated: loaded.source == .stale)
  }

  private func fetchImages(of id: String, by fetch: ArticleFetch) {
    underWay.fetchImages(of: id) { [report] in
      do {
        _ = try await fetch.images(of: id)
      } catch is CancellationError {
        // Cancelled on purpose.
      } catch {
        report(error)
      }
    }
  }

  /// Nil if nothing is to be stored, or the session cannot be.
  private func fetchForKeeping() throws -> ArticleFetch? {
    guard try settings().limit > 0 else { return nil }
    return try fetchForUser(orTell: report)
  }

  /// Nil if there is no room for the session; `tell` gets the error.
  private func fetchForUser(orTell tell: (any Error) -> Void) throws -> ArticleFetch? {
    do {
      return try underWay.staying { try fetch() }
    } catch let error as LarderError where error.code == .full {
      tell(error)
      return nil
    }
  }

  /// The service's answer to `ask`; it is not stored if the user signs out meanwhile.
  private func listed<List: Sendable>(
    _ ask: (Readeck) async throws -> List
  ) async throws -> List {
    // Without a stored session the end of it could not be seen.
    guard let fetch = try fetchForUser(orTell: { _ in }) else {
      return try await ask(readeck.storingNothing)
    }
    return try await fetch.listed(ask)
  }

  private func fetch() throws -> ArticleFetch {
    ArticleFetch(readeck: readeck, shelf: shelf, user: try shelf.user())
  }

  /// The article from the service, without storing it.
  private func fetched(_ bookmark: Bookmark) async throws -> Article {
    guard case .html(let html, _) = try await readeck.body(of: bookmark.id, unlessMatching: nil)
    else { throw ArticlesError.noArticle(bookmark.id) }
    return Article(bookmark: bookmark, html: html, isKept: false, isOutdated: false)
  }

  /// The article with this id; its bookmark is fetched only if it is not stored.
  public func article(id: String) async throws -> Article {
    let known = try shelf.article(id)
    if let known, !known.isEdited { return try await article(known.bookmark) }
    do {
      return try await article(listed { try await $0.bookmark(id) })
    } catch let error as ServiceError where error.isOffline {
      guard let known else { throw error }
      return try await article(known.bookmark)
    }
  }

  // MARK: Keeping

  /// Begins a sync, or returns the one under way. It sends the user's changes first.
  ///
  /// Throws ``ArticlesError/signedOut`` while the user is being signed out.
  public func sync(priority: TaskPriority = .utility) throws -> SyncRun {
    try underWay.sync {
      guard try settings().isOn else { throw ArticlesError.off }
      let fetch = try fetch()
      return SyncRun.begin(priority: priority) { report in
        await ArticleSync(fetch: fetch, outbox: self.outbox, report: report).run()
      }
    }
  }

  /// For the start of a program: a sync in the background if the last one was more than four hours ago.
  public func syncIfDue() throws -> SyncRun? {
    guard try settings().isOn else { return nil }
    if let last = try shelf.syncMark(), !last.isDue(at: shelf.store.now) { return nil }
    return try sync(priority: .background)
  }

  /// Waits for a sync and the images of opened articles. Call it before the store is closed.
  public func finish() async { await underWay.finish() }

  public func usage() throws -> ArticleUsage {
    let (html, images) = (
      try shelf.articles.namespace.info(), try shelf.images.namespace.info()
    )
    return ArticleUsage(
      articles: html?.entries ?? 0, htmlBytes: html?.bytes ?? 0, images: images?.entries ?? 0,
      imageBytes: images?.bytes ?? 0, lastSync: try shelf.syncMark()?.moment,
      pendingEdits: try shelf.outbox.count())
  }

  /// Removes all data of the user but the settings, unsent changes included.
  ///
  /// Requests under way, in any process, store nothing and end in ``ArticlesError/signedOut``. A list that another process has
  /// requested is removed as soon as it has arrived.
  public func signOut() async throws {
    try await underWay.leaving {
      try shelf.forget()
      try await readeck.forget()
    }
  }
}
