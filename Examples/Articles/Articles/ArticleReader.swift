public import Larder
import LarderHTTP
import Service
import Synchronization

/// Articles to read with or without a network.
public final class ArticleReader: Sendable {
  let shelf: ArticleShelf
  let readeck: Readeck
  private let settingsCache: Cache<OfflineSettings>
  private let marks: Cache<SyncMark>
  private let running = Mutex<SyncRun?>(nil)
  private let report: @Sendable (any Error) -> Void

  static let settingsKey = "offline"
  static let markKey = "last sync"

  /// - Parameter report: is told why images of an article that was opened could not be kept.
  public init(
    in store: Store, at readeck: Readeck, report: @escaping @Sendable (any Error) -> Void = { _ in }
  ) {
    shelf = ArticleShelf(in: store)
    self.readeck = readeck
    self.report = report
    settingsCache = store.cache(of: OfflineSettings.self, in: "articles.settings")
    marks = store.cache(of: SyncMark.self, in: "articles.sync")
  }

  public func settings() throws -> OfflineSettings {
    try settingsCache.value(for: Self.settingsKey) ?? OfflineSettings()
  }

  /// Changes the settings and obeys them at once: what they leave no room for goes, the oldest first.
  public func change(_ settings: OfflineSettings) throws {
    try settingsCache.set(settings, for: Self.settingsKey)
    try shelf.obey(settings)
    if !settings.isOn { try marks.clear() }
  }

  // MARK: Reading

  /// The newest unread articles, as the service has them; without a network those that are kept, and marked so.
  public func unread(limit: Int = 50) async throws -> ArticleList {
    do {
      let listed = try await readeck.unread(limit: limit)
      try shelf.noteEdits(in: listed)
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

  /// An article: what is kept, unless it is missing or known to be edited. Then it is fetched and kept; if it cannot be
  /// fetched, an edited one is given as it was.
  ///
  /// - Parameter bookmark: as it was listed last.
  public func article(_ bookmark: Bookmark) async throws -> Article {
    let settings = try settings()
    guard settings.limit > 0 else {
      guard
        case .html(let html, _, _) = try await readeck.body(of: bookmark.id, unlessMatching: nil)
      else { throw ArticlesError.noArticle(bookmark.id) }
      return Article(bookmark: bookmark, html: html, isKept: false, isOutdated: false)
    }
    try shelf.obey(settings)
    try shelf.noteEdits(in: [bookmark])
    let fetch = ArticleFetch(readeck: readeck, shelf: shelf, settings: settings)
    let loaded = try await fetch.html(of: bookmark)
    if loaded.source == .loaded {
      Task(priority: .background) { [report] in
        do { _ = try await fetch.images(of: bookmark.id) } catch { report(error) }
      }
    }
    return Article(
      bookmark: bookmark, html: loaded.value,
      isKept: loaded.source != .loaded || loaded.error == nil, isOutdated: loaded.source == .stale)
  }

  /// The article of that id; the service is asked what it is only where that is not known.
  public func article(id: String) async throws -> Article {
    let known = try shelf.article(id)
    if let known, !known.isEdited { return try await article(known.bookmark) }
    do {
      return try await article(readeck.bookmark(id))
    } catch let error as ServiceError where error.isOffline {
      guard let known else { throw error }
      return try await article(known.bookmark)
    }
  }

  // MARK: Keeping

  /// Begins to fetch what is missing; a sync that is under way is joined.
  public func sync(priority: TaskPriority = .utility) throws -> SyncRun {
    let settings = try settings()
    guard settings.isOn else { throw ArticlesError.off }
    return running.withLock { running in
      if let run = running, !run.isFinished { return run }
      let fetch = ArticleFetch(readeck: readeck, shelf: shelf, settings: settings)
      let run = SyncRun.begin(priority: priority) { [marks] report in
        await ArticleSync(fetch: fetch, marks: marks, report: report).run()
      }
      running = run
      return run
    }
  }

  /// What a program does when it starts: a sync in the background if the last one is more than four hours ago.
  public func syncIfDue() throws -> SyncRun? {
    guard try settings().isOn else { return nil }
    if let mark = try marks.value(for: Self.markKey), !mark.isDue(at: shelf.store.now) {
      return nil
    }
    return try sync(priority: .background)
  }

  public func usage() throws -> ArticleUsage {
    let (html, images) = (
      try shelf.articles.namespace.facts(), try shelf.images.namespace.facts()
    )
    return ArticleUsage(
      articles: html?.entries ?? 0, htmlBytes: html?.bytes ?? 0, images: images?.entries ?? 0,
      imageBytes: images?.bytes ?? 0, lastSync: try marks.value(for: Self.markKey)?.moment)
  }

  /// Ends a sync under way and forgets everything of the user; the settings stay.
  public func signOut() async throws {
    if let run = running.withLock({ $0 }) {
      run.cancel()
      _ = await run.result()
    }
    try shelf.clear()
    try marks.clear()
    try readeck.service.cache?.namespace.clear()
  }
}
