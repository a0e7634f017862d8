import CLMDB
import LarderSystem

extension Environment {
  /// Who reads: a process, and the transaction its snapshot shows; nil for a slot kept without a snapshot.
  package struct Reader: Sendable, Equatable {
    package var process: Int
    package var transaction: UInt64?
  }

  package func readersNow() throws(LMDBError) -> [Reader] {
    @safe final class Lines { var text = "" }
    let lines = Lines()
    try withMap { () throws(LMDBError) in
      let result = unsafe clmdb_reader_list(
        handle,
        { text, context in
          let lines = unsafe Unmanaged<Lines>.fromOpaque(context!).takeUnretainedValue()
          if let text = unsafe text { unsafe lines.text += String(cString: text) }
          return 0
        }, Unmanaged.passUnretained(lines).toOpaque())
      if result < 0 { throw LMDBError(code: result) }
    }
    return lines.text.split(separator: "\n").compactMap { line in
      let words = line.split(separator: " ")
      guard words.count == 3, let process = Int(words[0]) else { return nil }
      return Reader(process: process, transaction: UInt64(words[2]))
    }
  }

  /// Frees the reader slots of processes that are gone; their snapshots no longer keep pages from being used again.
  @discardableResult
  package func clearDeadReaders() throws(LMDBError) -> Int {
    try withMap { () throws(LMDBError) in
      var dead: Int32 = 0
      try locks.whileRegistering(lockTimeout: lockTimeout) {
        unsafe mdb_reader_check(handle, &dead)
      }
      return Int(dead)
    }
  }

  /// The reader that keeps the pages freed last from being used again: the oldest snapshot of any process, this one
  /// included, that is older than the newest commit. Nil if there is none.
  ///
  /// A checkpoint of this process is moved to the newest commit first, unless the caller is inside a write, and those of
  /// others are given the time to move. Clears dead readers. A reader is named only if there is one for as long as 10 ms, because a read that began
  /// before the newest commit and ends at once is in nobody's way. Proportional to the number of readers.
  package func blockingReader() throws(LMDBError) -> Reader? {
    if !isWriting { try checkpoint() }
    try clearDeadReaders()
    let deadline = ContinuousClock.now + .milliseconds(10) + timeForCheckpoints
    while let reader = try outdatedReader() {
      if ContinuousClock.now > deadline { return reader }
      backOff(microseconds: 200)
    }
    return nil
  }

  private func outdatedReader() throws(LMDBError) -> Reader? {
    try withMap { () throws(LMDBError) in
      let oldest = unsafe clmdb_oldest_reader(handle)
      guard oldest.transaction < meta.lastTransaction else { return nil }
      return Reader(process: oldest.process, transaction: oldest.transaction)
    }
  }
}
