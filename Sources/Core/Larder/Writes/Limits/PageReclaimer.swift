import LMDB
import Synchronization

/// Frees pages in a full data file, before a write and between its tries. The pages that a commit frees can be used only by the
/// second commit after that commit. So evictions have their own transactions, each of which copies no more pages than are free.
struct PageReclaimer {
  private static let attempts = 4
  private static let keptForCommit = 24
  private static let leastForBatches = 1024

  private let engine: StoreEngine
  private var mayRepeat: Bool
  private var failures = 0
  private(set) var mayAskForCheckpoint = true
  /// The number of free pages that the batch should have when it begins; 0 after the attempt to free these pages.
  private(set) var wanted: Int

  init(engine: StoreEngine, mayRepeat: Bool) {
    self.engine = engine
    // The limit may now be lower than at the time of the earlier batch, so the number is limited to half of the file.
    let earlier = min(engine.writes.pagesForBatches.load(ordering: .relaxed), Self.half(engine))
    self.mayRepeat = mayRepeat
    wanted = mayRepeat ? 0 : max(2 * BatchPages.kept, earlier)
  }

  private static func half(_ engine: StoreEngine) -> Int {
    (engine.environment.fileLimit ?? 0) / engine.pageSize / 2
  }

  mutating func checkpoint() throws {
    mayAskForCheckpoint = false
    try engine.environment.checkpoint()
  }

  mutating func prepare() throws {
    let pages = wanted
    wanted = 0
    if try blockingProcess() == nil { try free(pages) }
  }

  /// Makes room before a write is repeated that had taken `taken` pages until it failed. Throws ``LarderError/Code/full`` if
  /// too few entries may be evicted, a reader prevents the use of freed pages, or the write may run only once.
  mutating func make(after taken: Int, mayRepeat: Bool) throws {
    self.mayRepeat = mayRepeat
    failures += 1
    if let process = try blockingProcess() {
      throw LarderError(
        .full,
        "\(reached), and process \(process) keeps pages that were freed since it began to read",
        hint: "end that read; nothing was evicted")
    }
    guard failures < Self.attempts else { throw full }
    if mayRepeat {
      try free(2 * taken + BatchPages.kept)
      return
    }
    guard try free(Self.note(taken, in: engine)) else { throw full }
    throw LarderError(
      .full, "\(reached), and a batch needed more pages than were free",
      hint: "repeat it: entries were evicted for it now; or write less in one batch")
  }

  /// Remembers and returns the number of pages that later batches should have, after a batch failed with `taken` pages.
  @discardableResult
  static func note(_ taken: Int, in engine: StoreEngine) -> Int {
    // Nobody knows how many pages the batch will need, and a second failure is worse than too many evictions. So more pages are
    // freed than the batch had taken. Half of the file is enough: a batch without large values copies at most the other half.
    let pages = max(taken, min(half(engine), max(4 * taken, leastForBatches))) + BatchPages.kept
    engine.writes.pagesForBatches.store(pages, ordering: .relaxed)
    return pages
  }

  /// Lowers the remembered number slowly while batches take fewer pages, because one large batch may never be repeated.
  static func noteSuccess(_ taken: Int, in engine: StoreEngine) {
    let surplus = engine.writes.pagesForBatches.load(ordering: .relaxed) - 4 * taken
    guard surplus > 0 else { return }
    engine.writes.pagesForBatches.subtract(max(1, surplus / 512), ordering: .relaxed)
  }

  /// Evicts until `pages` pages are free, except a few that the last commits may still hold. Returns whether that succeeded.
  @discardableResult
  private func free(_ pages: Int) throws -> Bool {
    var left = 2 * pages * engine.pageSize + 1_000_000
    var fruitless = 0
    while left > 0, fruitless < Self.attempts {
      // If an eviction took more pages than estimated and had too few pages, the next eviction leaves more pages free.
      let kept = Self.keptForCommit << fruitless
      let step = try attemptOnce { batch in
        guard let disk = batch.session.budget.disk else { return (0, true) }
        let most = disk.usable(leaving: pages)
        let (bytes, changes) = (batch.session.state.bytes, batch.session.transaction.changes)
        try batch.session.lowerUse(to: most, forBytes: 0, keeping: kept)
        // The removal of empty values, and of entries of cleared namespaces, lowers no count of bytes, but is progress.
        let isProgress = batch.session.transaction.changes > changes
        return (
          max(Int(clamping: bytes &- batch.session.state.bytes), isProgress ? 1 : 0),
          !batch.session.usesMore(than: most)
        )
      }
      let (freed, isDone) = step ?? (0, false)
      if isDone { break }
      left -= freed
      fruitless = freed > 0 ? 0 : fruitless + 1
      if freed <= 0 { try letCommitsPass() }
    }
    try letCommitsPass()
    return try attempt { batch in
      (batch.session.budget.disk?.available ?? .max) >= pages - BatchPages.kept
    }
  }

  private func letCommitsPass() throws {
    for _ in 0..<2 { try attempt { batch in batch.session.forceCommit() } }
    try engine.environment.checkpoint()
  }

  private func attempt<Result>(_ body: (inout WriteBatch) throws -> Result) throws -> Result {
    guard let result = try attemptOnce(body) else { throw full }
    return result
  }

  /// Runs `body` in a transaction. Nil if the transaction had too few pages.
  private func attemptOnce<Result>(_ body: (inout WriteBatch) throws -> Result) throws -> Result? {
    var lost = LostRecords()
    while true {
      do {
        return try engine.attempt(.withoutCleanup, without: lost, body)
      } catch RolledBack.fileLimitChanged(let limit) {
        engine.environment.setFileLimit(limit)
      } catch RolledBack.recordUnstorable(let offset, let generation) {
        lost.insert(offset, of: generation)
      } catch is RolledBack { return nil }
    }
  }

  /// The process whose read prevents LMDB from reusing freed pages. Nil if there is no such process or no disk limit.
  private func blockingProcess() throws -> Int? {
    guard engine.environment.fileLimit != nil else { return nil }
    return try engine.environment.blockingReader().map { Int($0.process) }
  }

  private var reached: String {
    "\(engine.environment.path) has reached its limit of \(engine.environment.fileLimit ?? 0) bytes on disk"
  }

  private var full: LarderError {
    LarderError(
      .full, reached,
      hint: mayRepeat
        ? "raise the limit or remove entries" : "write less in one batch, or raise the limit")
  }
}
