import LMDB
import LarderSystem

/// Frees pages of a full data file between the attempts of one write.
///
/// Pages that a commit frees can be used by the second commit after it. So evictions for a write run in transactions of their
/// own, followed by two commits that only make time pass.
struct RoomOnDisk {
  /// The number of attempts for a write.
  private static let attempts = 4

  private let engine: StoreEngine
  private let mayRepeat: Bool
  private var failures = 0
  private(set) var mayAskForCheckpoint = true

  init(engine: StoreEngine, mayRepeat: Bool) {
    self.engine = engine
    self.mayRepeat = mayRepeat
  }

  mutating func checkpoint() throws {
    mayAskForCheckpoint = false
    try engine.environment.checkpoint()
  }

  /// Makes room for a write of `pages` pages.
  ///
  /// - Throws: ``LarderError/Code/full`` if that is not possible, or the write may not run again.
  mutating func make(_ pages: Int) throws {
    failures += 1
    try checkReaders()
    guard mayRepeat, failures < Self.attempts else { throw full }
    if failures == 1 { try evict(pages) }
    for _ in 0..<2 { try attempt { batch in batch.forceCommit() } }
    try engine.environment.checkpoint()
  }

  private func evict(_ pages: Int) throws {
    let size = pages * engine.pageSize
    var left = 2 * size + 1_000_000
    while left > 0 {
      let freed = try attempt { batch in
        let before = batch.writer.state.bytes
        guard let usable = batch.budget.usablePages else { return 0 }
        try batch.budget.lowerUse(
          to: usable - pages, forBytes: min(size, left / 2, 1 << 20), .none, &batch.writer)
        return Int(clamping: before &- batch.writer.state.bytes)
      }
      if freed <= 0 { break }
      left -= freed
    }
  }

  private func attempt<Result>(_ body: (inout WriteBatch) throws -> Result) throws -> Result {
    while true {
      switch try engine.attempt(.standard, body) {
      case .committed(let result): return result
      case .rolledBack(.fileLimitChanged(let limit)): engine.environment.setFileLimit(limit)
      case .rolledBack: throw full
      }
    }
  }

  /// While a reader keeps freed pages from being used again, evicting would free nothing.
  private func checkReaders() throws {
    let environment = engine.environment
    guard let limit = environment.fileLimit, let reader = try environment.blockingReader() else {
      return
    }
    throw LarderError(
      .full,
      "\(environment.path) has reached its limit of \(limit) bytes on disk, and process \(reader.process) keeps "
        + "pages that were freed since it began to read",
      hint: "end that read; nothing was evicted")
  }

  private var full: LarderError {
    LarderError(
      .full,
      "\(engine.environment.path) has reached its limit of \(engine.environment.fileLimit ?? 0) bytes on disk",
      hint: failures > 1
        ? "raise the limit or remove entries" : "write less in one batch, or raise the limit")
  }
}

extension WriteBatch {
  /// Makes the transaction change something, so that its commit counts for the reuse of freed pages.
  mutating func forceCommit() { writer.updateStore { $0.forcedCommits &+= 1 } }
}
