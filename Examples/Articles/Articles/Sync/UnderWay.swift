import Synchronization

/// What a reader has begun that goes on by itself: a sync, and images of articles that were opened.
final class UnderWay: Sendable {
  private struct State {
    var sync: SyncRun?
    var images: [Int: (article: String, task: Task<Void, Never>)] = [:]
    var last = 0
    /// How many are signing the user out: nothing begins meanwhile.
    var leaving = 0
  }

  private let state = Mutex(State())

  /// What was under way at a moment.
  struct Begun {
    var sync: SyncRun?
    /// Articles whose images were being fetched.
    var articles: [String] = []
    fileprivate var tasks: [Task<Void, Never>] = []

    fileprivate func wait() async {
      _ = await sync?.result()
      for task in tasks { await task.value }
    }
  }

  /// The sync that is under way, or the one that `begin` begins.
  func sync(orBegin begin: () throws -> SyncRun) throws -> SyncRun {
    try state.withLock { state in
      guard state.leaving == 0 else { throw ArticlesError.signedOut }
      if let run = state.sync, !run.isFinished { return run }
      let run = try begin()
      state.sync = run
      return run
    }
  }

  /// What `body` makes for the user, who cannot leave meanwhile.
  func staying<Result: Sendable>(_ body: () throws -> Result) throws -> Result {
    try state.withLock { state in
      guard state.leaving == 0 else { throw ArticlesError.signedOut }
      return try body()
    }
  }

  /// Fetches an article's images after everything else, unless the user is leaving.
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

  /// Ends everything, waits for that, and says what it was.
  @discardableResult
  func end() async -> Begun {
    let begun = begun()
    begun.sync?.cancel()
    for task in begun.tasks { task.cancel() }
    await begun.wait()
    return begun
  }

  /// Waits until nothing goes on.
  func finish() async {
    while true {
      let begun = begun()
      if begun.sync == nil, begun.tasks.isEmpty { return }
      await begun.wait()
    }
  }

  /// Ends everything and lets nothing begin until `body` has seen the user out.
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
