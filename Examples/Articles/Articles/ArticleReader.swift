public import Larder
import LarderHTTP
import Service

/// Articles to read with or without a network.
public final class ArticleReader: Sendable {
  let shelf: ArticleShelf
  let readeck: Readeck
  private let underWay = UnderWay()
  private let report: @Sendable (any Error) -> Void

  /// - Parameter report: is told why an article that was opened, or images of it, could not be kept.
  public init(
    in store: Store, at readeck: Readeck, report: @escaping @Sendable (any Error) -> Void = { _ in }
  ) {
    shelf = ArticleShelf(in: store)
    self.readeck = readeck
    self.report = report
  }

  public func settings() throws -> OfflineSettings { try shelf.settings() }

  /// Changes the settings and obeys them at once: what they leave no room for goes, the oldest first.
  ///
  /// What is under way ends: unless reading offline is off now, another sync begins in the place of one, and images of
  /// articles that were opened are fetched after all.
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

  // MARK: Reading

  /// The newest unread articles, as the service has them; without a network those that are kept, and marked so.
  ///
  /// Throws ``ArticlesError/signedOut`` if the user leaves meanwhile.
  public func unread(limit: Int = 50) async throws -> ArticleList {
    do {
      let listed = try await listed { try await $0.unread(limit: limit) }
      do {
        try shelf.noteEdits(in: listed)
      } catch let error as LarderError where error.code == .full {
        // Who opens an edited article finds out from what is listed of it.
      }
      return ArticleList(bookmarks: listed, isOffline: false)
    } catch let error as ServiceError where error.isOffline {
      let kept = try stored().map(\.bookmark)
      guard !kept.isEmpty else { throw ArticlesError.nothingStored }
      return ArticleList(bookmarks: kept, isOffline: true)
    }
  }

  /// What is kept, newest first. No HTML is read.
  public func stored() throws -> [StoredArticle] { try shelf.list() }

  /// Whether the article can be read without a network. Nothing is read, counted or written for that.
  public func hasCachedArticle(_ id: String) throws -> Bool { try shelf.has(id) }

  /// An article: what is kept, unless it is missing or known to be edited. Then it is fetched and, if there is room for it,
  /// kept; if it cannot be fetched, an edited one is given as it was.
  ///
  /// - Parameter bookmark: as it was listed last.
  public func article(_ bookmark: Bookmark) async throws -> Article {
    guard let fetch = try fetchForKeeping() else { return try await fetched(bookmark) }
    let loaded = try await fetch.html(of: bookmark)
    // What the shelf was cleared of while it was loaded is not stored, which is no error.
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
        // Whoever ended it knows.
      } catch {
        report(error)
      }
    }
  }

  /// Nil if nothing is to be kept, or not even the user can be.
  private func fetchForKeeping() throws -> ArticleFetch? {
    guard try settings().limit > 0 else { return nil }
    return try fetchForUser(orTell: report)
  }

  /// Nil if there is no room to note who the user is, which `tell` is told.
  private func fetchForUser(orTell tell: (any Error) -> Void) throws -> ArticleFetch? {
    do {
      return try underWay.staying { try fetch() }
    } catch let error as LarderError where error.code == .full {
      tell(error)
      return nil
    }
  }

  /// What the service says to `ask`, of which nothing stays if the user leaves meanwhile.
  private func listed<List: Sendable>(
    _ ask: (Readeck) async throws -> List
  ) async throws -> List {
    // Nobody could tell whether a user who is not noted has left.
    guard let fetch = try fetchForUser(orTell: { _ in }) else {
      return try await ask(readeck.storingNothing)
    }
    return try await fetch.listed(ask)
  }

  private func fetch() throws -> ArticleFetch {
    ArticleFetch(readeck: readeck, shelf: shelf, user: try shelf.user())
  }

  /// An article as the service has it, which nobody keeps.
  private func fetched(_ bookmark: Bookmark) async throws -> Article {
    guard case .html(let html, _, _) = try await readeck.body(of: bookmark.id, unlessMatching: nil)
    else { throw ArticlesError.noArticle(bookmark.id) }
    return Article(bookmark: bookmark, html: html, isKept: false, isOutdated: false)
  }

  /// The article of that id; the service is asked what it is only where that is not known.
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

  /// Begins to fetch what is missing; a sync that is under way is joined.
  ///
  /// Throws ``ArticlesError/signedOut`` while the user is being signed out.
  public func sync(priority: TaskPriority = .utility) throws -> SyncRun {
    try underWay.sync {
      guard try settings().isOn else { throw ArticlesError.off }
      let fetch = try fetch()
      return SyncRun.begin(priority: priority) { report in
        await ArticleSync(fetch: fetch, report: report).run()
      }
    }
  }

  /// What a program does when it starts: a sync in the background if the last one is more than four hours ago.
  public func syncIfDue() throws -> SyncRun? {
    guard try settings().isOn else { return nil }
    if let last = try shelf.lastSync(), !last.isDue(at: shelf.store.now) { return nil }
    return try sync(priority: .background)
  }

  /// Waits for what goes on by itself, a sync or images of an article that was opened: what is to be done before the store
  /// is closed.
  public func finish() async { await underWay.finish() }

  public func usage() throws -> ArticleUsage {
    let (html, images) = (
      try shelf.articles.namespace.info(), try shelf.images.namespace.info()
    )
    return ArticleUsage(
      articles: html?.entries ?? 0, htmlBytes: html?.bytes ?? 0, images: images?.entries ?? 0,
      imageBytes: images?.bytes ?? 0, lastSync: try shelf.lastSync()?.moment)
  }

  /// Forgets everything of the user; the settings stay.
  ///
  /// What is under way ends, and nothing of it is kept, nor of what another process has under way for the user; an article
  /// that is being opened, and a list, end in ``ArticlesError/signedOut``. A list that another process has under way is
  /// forgotten by that as soon as it has come.
  public func signOut() async throws {
    try await underWay.leaving {
      try shelf.forget()
      try await readeck.forget()
    }
  }
}
