public import Larder
import LarderHTTP
import Service
import Synchronization

/// The articles of one user, with or without a network.
public final class ArticleReader: Sendable {
  struct Work {
    /// The sync under way.
    var sync: SyncRun?
    var images: [Int: Task<Void, Never>] = [:]
    var lastTask = 0
  }

  let storage: ArticleStore
  let readeck: Readeck
  let work = Mutex(Work())
  let report: @Sendable (any Error) -> Void

  var loader: ArticleLoader { ArticleLoader(readeck: readeck, storage: storage) }
  private var outbox: Outbox { Outbox(storage: storage, readeck: readeck) }

  /// - Parameter report: called with the reason why an opened article, or its images, could not be stored.
  public init(
    in store: Store, at readeck: Readeck, report: @escaping @Sendable (any Error) -> Void = { _ in }
  ) {
    storage = ArticleStore(store: store, realm: readeck.realm)
    (self.readeck, self.report) = (readeck, report)
  }

  public func settings() throws -> OfflineSettings { try storage.settings() }

  /// Changes the settings and applies them at once: removes the oldest articles and images beyond the limits. A sync under way
  /// obeys them, too, and ends if offline reading is off.
  public func change(_ settings: OfflineSettings) async throws {
    try await storage.set(settings)
    try storage.applySettings()
    if !settings.isOn { try storage.syncs.clear() }
  }

  // MARK: Changes

  /// Changes an article here at once, and at the service as soon as it can be reached.
  ///
  /// Throws nothing if the service cannot be reached: the report says so. In a store without room for the change it is only
  /// sent, and an error says if that fails. The service is asked about an article that is not stored. If it does not have
  /// the article, ``ArticlesError/unknown(_:reason:)`` is thrown, and a `ServiceError` if it cannot be asked.
  public func edit(_ id: String, _ kind: PendingEdit.Kind) async throws -> OutboxReport {
    try await outbox.edit(id, kind)
  }

  /// The changes that the service does not have yet, in their order.
  public func pendingEdits() throws -> [PendingEdit] { try outbox.edits().map(\.edit) }

  /// The number of such changes in this store that were made with another credential, or at another service.
  public func othersPendingEdits() throws -> Int {
    let own = storage.outbox.name
    return try storage.store.namespaces()
      .filter { $0.name.hasPrefix("articles.outbox") && $0.name != own }
      .reduce(0) { $0 + $1.entries }
  }

  /// Sends them, until the service cannot be reached.
  ///
  /// - Parameter progress: called after each change.
  public func sendEdits(
    progress: @escaping @Sendable (_ done: Int, _ of: Int) -> Void = { _, _ in }
  ) async throws -> OutboxReport {
    var outbox = outbox
    outbox.progress = progress
    return try await outbox.send()
  }

  /// Gives up the changes of an article; returns their number. The next sync fetches the service's version.
  public func dropEdits(of id: String) async throws -> Int { try await outbox.drop(id) }

  // MARK: Reading

  /// The newest unread articles of the service; without a network the stored ones, and the list says so.
  public func unread(limit: Int = 50) async throws -> ArticleList {
    let began = storage.store.now
    do {
      let listed = try await readeck.unread(limit: limit)
      // Opening an edited article compares the dates again.
      _ = try await ifRoomSuspending {
        try await storage.noteEdits(in: listed.bookmarks, before: began)
      }
      return listed
    } catch let error as ServiceError where error.isOffline {
      let stored = try stored().map(\.bookmark).filter { !$0.isArchived }
      guard !stored.isEmpty else { throw ArticlesError.nothingStored }
      return ArticleList(bookmarks: stored, isOffline: true)
    }
  }

  /// The stored articles, newest first. Reads no HTML.
  public func stored() throws -> [StoredArticle] { try storage.list() }

  /// How many images of an article are stored.
  public func imageCount(of article: StoredArticle) throws -> Int {
    try article.images.count { try storage.images.contains($0) }
  }

  /// Whether the article can be read without a network. Reads no HTML, counts no read and writes nothing.
  public func hasCachedArticle(_ id: String) throws -> Bool { try storage.has(id) }

  // MARK: Storing

  /// Begins a sync, or returns the one under way. It sends the user's changes first.
  public func sync(priority: TaskPriority = .utility) throws -> SyncRun {
    try work.withLock { work in
      if let run = work.sync { return run }
      guard try settings().isOn else { throw ArticlesError.off }
      let (loader, outbox) = (loader, outbox)
      let run = SyncRun(priority: priority) { [self] report in
        defer { self.work.withLock { $0.sync = nil } }
        return await ArticleSync(loader: loader, outbox: outbox, report: report).run()
      }
      work.sync = run
      return run
    }
  }

  /// For the start of a program: a sync in the background if the last one was more than four hours ago.
  public func syncIfDue() throws -> SyncRun? {
    guard try settings().isOn else { return nil }
    if let last = try storage.syncRecord(), !last.isDue(at: storage.store.now) { return nil }
    return try sync(priority: .background)
  }

  /// Waits for a sync and the images of opened articles. Call it before the store is closed.
  public func finish() async {
    while true {
      let (sync, images) = work.withLock { ($0.sync, Array($0.images.values)) }
      if sync == nil, images.isEmpty { return }
      _ = await sync?.result()
      for task in images { await task.value }
    }
  }

  public func usage() throws -> ArticleUsage {
    let (html, images) = (
      try storage.articles.namespace.info(), try storage.images.namespace.info()
    )
    return ArticleUsage(
      articles: html?.entries ?? 0, htmlBytes: html?.bytes ?? 0, images: images?.entries ?? 0,
      imageBytes: images?.bytes ?? 0, lastSync: try storage.syncRecord()?.moment?.description,
      pendingEdits: try storage.outbox.count())
  }

  /// Removes all data of the user but the settings, unsent changes included.
  ///
  /// Nothing that was requested before is stored after it, by any process; a sync under way ends.
  public func signOut() async throws {
    try storage.removeAll()
    work.withLock { work in
      work.sync?.cancel()
      for task in work.images.values { task.cancel() }
    }
    await finish()
  }
}
