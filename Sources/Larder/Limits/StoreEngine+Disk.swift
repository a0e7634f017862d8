import LMDB

extension StoreEngine {
  /// How often a write is tried that finds too few pages, with commits in between that let freed ones be used again.
  private static let tries = 4

  /// One write transaction within the disk limit. What the library writes itself can be tried again; a caller's closure
  /// runs once.
  func writeWithinLimit<Result>(
    repeats: Bool, waitingAtMost bound: Duration? = nil,
    _ body: (inout WriteBatch) throws -> Result
  ) throws -> Result {
    var tries = 0
    var mayAsk = true
    while true {
      do {
        return try writeOnce(waitingAtMost: bound, asksForCheckpoint: mayAsk, body)
      } catch is CheckpointWanted {
        mayAsk = false
        try environment.checkpoint()
      } catch let error as FileLimitChanged {
        environment.setFileLimit(error.limit)
      } catch let error as OutOfPages {
        tries += 1
        try explainBlocked()
        guard repeats, tries < Self.tries else { throw full(tries: tries) }
        do {
          try free(error.needed, isFirst: tries == 1)
        } catch is OutOfPages {
          throw full(tries: tries)
        }
      }
    }
  }

  /// If a reader keeps freed pages from being used again, evicting would free nothing.
  private func explainBlocked() throws {
    guard let limit = environment.fileLimit, let reader = try environment.blockingReader() else {
      return
    }
    throw LarderError(
      .full,
      "\(environment.path) has reached its limit of \(limit) bytes on disk, and process \(reader.process) keeps "
        + "pages that were freed since it began to read",
      hint: "end that read; nothing was evicted")
  }

  private func full(tries: Int) -> LarderError {
    LarderError(
      .full,
      "\(environment.path) has reached its limit of \(environment.fileLimit ?? 0) bytes on disk",
      hint: tries > 1
        ? "raise the limit or remove entries" : "write less in one batch, or raise the limit")
  }

  /// Lets entries leave until a write of so many pages finds room, in transactions of their own, and lets two commits
  /// pass, after which what they freed can be used.
  private func free(_ pages: Int, isFirst: Bool) throws {
    if isFirst {
      let size = pages * pageSize
      var left = 2 * size + 1_000_000
      while left > 0 {
        let freed = try writeOnce { batch in
          let before = batch.state.bytes
          guard let disk = batch.disk else { return 0 }
          try batch.lowerUse(
            to: disk.usable - pages, for: min(size, left / 2, 1 << 20), kept: [])
          return Int(clamping: before &- batch.state.bytes)
        }
        if freed <= 0 { break }
        left -= freed
      }
    }
    for _ in 0..<2 { try writeOnce { batch in batch.age() } }
    try environment.checkpoint()
  }
}

/// Thrown before a batch's first change: pages run short that only wait for this process's next checkpoint.
struct CheckpointWanted: Error {}

extension WriteBatch {
  /// Whether a checkpoint now would give back pages that the write may need.
  var wantsCheckpoint: Bool {
    guard let disk, disk.available < disk.reserve / 2 else { return false }
    return engine.environment.hasOutdatedPin
  }

  /// Makes the commit one that counts, though nothing has changed.
  mutating func age() { state.ages &+= 1 }
}
