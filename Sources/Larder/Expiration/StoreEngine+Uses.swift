import LMDB
import LarderSystem

extension StoreEngine {
  /// The most entries, and the most bytes of them, whose expirations one write moves because they were used.
  static let usesPerWrite = (entries: 64, bytes: 256 << 10)
  static let usesPerFlush = (entries: 1000, bytes: 8 << 20)

  /// Writes the queued access times when their timer ends.
  func writeDueAccessTimes() {
    guard environment.isOpen else { return }
    do throws(LarderError) {
      try flushAccessTimes()
    } catch {
      // The accesses stay queued. The next write or close meets the same error and has a caller to tell.
    }
  }

  /// Writes the queued access times, as far as the data file's limit leaves room.
  func flushAccessTimes(lockTimeout: Duration? = nil) throws(LarderError) {
    var left = uses.count
    var tries = 0
    while left > 0, tries < 3 {
      let done = try commit(.standard(lockTimeout: lockTimeout)) { batch in
        let done = try batch.flushAccessTimes(
          entries: Self.usesPerFlush.entries, bytes: Self.usesPerFlush.bytes)
        // Pages that were freed before can be used again two commits later.
        if done == 0 { batch.forceCommit() }
        return done
      }
      tries = done == 0 ? tries + 1 : 0
      left = min(left - done, uses.count)
    }
  }
}

extension WriteBatch {
  /// Writes some queued access times in a batch made for something else. In a data file with a limit they get transactions of
  /// their own, so that no batch fails because of them.
  mutating func flushSomeAccessTimes() throws(LarderError) {
    guard !budget.hasDiskLimit else { return }
    let most = StoreEngine.usesPerWrite
    try flushAccessTimes(entries: most.entries, bytes: most.bytes)
  }

  /// Moves the expirations of entries that reads of this process have used; returns how many it looked at.
  ///
  /// An entry that has expired since its last use is fresh again, unless it was removed.
  @discardableResult
  mutating func flushAccessTimes(entries: Int, bytes: Int) throws(LarderError) -> Int {
    let engine = writer.engine
    var taken = engine.uses.take(entries)
    if taken.isEmpty { return 0 }
    var size = 0
    var done = 0
    while done < taken.count, size < bytes {
      guard let written = try flush(taken[done]) else { break }
      size += written
      done += 1
    }
    engine.uses.finish(Array(taken[done...]), done: false)
    taken.removeLast(taken.count - done)
    effects.accesses += taken
    return done
  }

  /// - Returns: how many bytes it wrote; nil if the data file's limit leaves too few pages in this batch.
  private mutating func flush(_ use: PendingAccesses.Use) throws(LarderError) -> Int? {
    guard case .entry(let entry) = try writer.contents(of: use.slot),
      entry.header.version == use.version, try writer.isLive(entry.id)
    else { return 0 }
    guard budget.spend(entry.recordCount, writer) else { return nil }
    let moment = min(use.moment, writer.now.milliseconds)
    return try writer.extend(entry, accessedAt: moment) ? entry.recordCount : 0
  }
}
