import Synchronization

/// The background work of a reader: a sync, and images of opened articles.
final class UnderWay: Sendable {
  private struct State {
    var sync: SyncRun?
    var images: [Int: (article: String, task: Task<Void, Never>)] = [:]
    var last = 0
    /// Calls that are signing the user out; nothing begins meanwhile.
    var leaving = 0
  }

  private let state = Mutex(State())

  /// The work under way.
  struct Begun {
    var sync: SyncRun?
    /// Articles whose images are being fetched.
    var articles: [String] = []
    fileprivate var tasks: [Task<Void, Never>] = []

    fileprivate func wait() async {
      _ = await sync?.result()
      for task in tasks { await task.value }
    }
  }

  /// The sync under way, or a new one.
  func sync(orBegin begin: () throws -> SyncRun) throws -> SyncRun {
    try state.withLock { state in
      guard state.leaving == 0 else { throw ArticlesError.signedOut }
      if let run = state.sync, !run.isFinished { return run }
      let run = try begin()
      state.sync = run
      return run
    }
  }

  /// Calls `body` while the user cannot sign out in this process.
  func staying<Result: Sendable>(_ body: () throws -> Result) throws -> Result {
    try state.withLock { state in
      guard state.leaving == 0 else { throw ArticlesError.signedOut }
      return try body()
    }
  }

  /// Fetches an article's images at background priority, unless the user is signing out.
  func fetchImages(of article: String, _ work: @escaping @Sendable () async -> Void) {
    state.withLock { state in
      guard state.leaving == 0 else { return }
      state.last += 1
      let number = state.last
      let task = Task(priority: .background) {
        await work()
        self.state.withLock { $0.images[number] = nil }
      }
      state.images[number] = (article, task)
    }
  }

  /// Cancels everything, waits for the end, and returns what was under way.
  @discardableResult
  func end() async -> Begun {
    let begun = begun()
    begun.sync?.cancel()
    for task in begun.tasks { task.cancel() }
    await begun.wait()
    return begun
  }

  /// Waits until nothing is under way.
  func finish() async {
    while true {
      let begun = begun()
      if begun.sync == nil, begun.tasks.isEmpty { return }
      await begun.wait()
    }
  }

  /// Cancels everything, and prevents new work until `body` has signed the user out.
  func leaving(_ body: () async throws -> Void) async throws {
    state.withLock { $0.leaving += 1 }
    defer { state.withLock { $0.leaving -= 1 } }
    await end()
    try await body()
  }

  private func begun() -> Begun {
    state.withLock { state in
      let images = state.images.values
      return Begun(
        sync: state.sync.flatMap { $0.isFinished ? nil : $0 }, articles: images.map(\.article),
        tasks: images.map(\.task))
    }
  }
}
