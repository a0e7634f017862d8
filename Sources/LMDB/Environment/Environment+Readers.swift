import CLMDB
import LarderSystem
import Synchronization

extension Environment {
  static let maximumReaders = 1022

  /// A slot of LMDB's reader table: a process and the transaction of its snapshot, nil for a slot without a snapshot.
  package struct Reader: Sendable, Equatable {
    package var process: Int
    package var transaction: UInt64?
  }

  package func readersNow() throws(LMDBError) -> [Reader] {
    try withMap { () throws(LMDBError) in try unsafe Self.readers(of: handle) }
  }

  private static func readers(of handle: OpaquePointer) throws(LMDBError) -> [Reader] {
    @safe final class Lines { var text = "" }
    let lines = Lines()
    let result = unsafe clmdb_reader_list(
      handle,
      { text, context in
        let lines = unsafe Unmanaged<Lines>.fromOpaque(context!).takeUnretainedValue()
        if let text = unsafe text { unsafe lines.text += String(cString: text) }
        return 0
      }, Unmanaged.passUnretained(lines).toOpaque())
    if result < 0 { throw LMDBError(code: result) }
    return lines.text.split(separator: "\n").compactMap { line in
      let words = line.split(separator: " ")
      guard words.count == 3, let process = Int(words[0]) else { return nil }
      return Reader(process: process, transaction: UInt64(words[2]))
    }
  }

  /// The processes with the most slots in the reader table, for messages: `12 (larder): 16, 13 (editor): 8`.
  static func describeReaders(of handle: OpaquePointer) -> String {
    do throws(LMDBError) {
      var counts: [Int: Int] = [:]
      for reader in try unsafe readers(of: handle) { counts[reader.process, default: 0] += 1 }
      let most = counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.prefix(8)
      let words = most.map { "\(LockHolders.description(of: Int32($0.key))): \($0.value)" }
      let others = counts.count - most.count
      return words.joined(separator: ", ") + (others > 0 ? ", and \(others) other processes" : "")
    } catch {
      return "unknown"
    }
  }

  /// Frees the reader slots of processes that have ended; their snapshots no longer keep pages from being reused.
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

  /// The reader that keeps the pages freed last from being reused: the oldest snapshot of any process, this one included,
  /// that is older than the newest commit. Nil if no reader does.
  ///
  /// Makes a checkpoint first, unless the caller is inside a write, gives other processes time for theirs, and clears dead
  /// readers. A reader is returned only if one exists for 10 ms, because a short read blocks nothing. Proportional to the
  /// number of readers.
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

extension Environment {
  /// An unused reader slot is released after one to two of these intervals.
  private static let sweepInterval: Int64 = 5000

  /// Releases reader slots that were not used since the last call, so that idle processes do not fill the reader table.
  package func releaseIdleReaders() {
    if readers.sweep() { scheduleSweep() }
  }

  func scheduleSweep() {
    let time = SystemTime.monotonicMilliseconds + Self.sweepInterval
    let isFirst = nextSweep.compareExchange(expected: 0, desired: time, ordering: .relaxed)
    if isFirst.exchanged { timer?.schedule(in: Self.sweepInterval) }
  }

  /// Called by the timer thread.
  func sweepReadersIfDue() {
    let time = nextSweep.load(ordering: .relaxed)
    if time == 0 { return }
    let left = time - SystemTime.monotonicMilliseconds
    if left > 0 {
      timer?.schedule(in: left)
      return
    }
    nextSweep.store(0, ordering: .relaxed)
    if isOpen { releaseIdleReaders() }
  }
}

extension Environment {
  /// An error with what only the environment can add: the processes that hold a lock or fill the reader table.
  package func details(of error: LMDBError) -> String {
    if error != .readersFull { return Self.details(of: error, in: path) }
    do throws(LMDBError) {
      return try withMap { () throws(LMDBError) in unsafe Self.describeReaders(of: handle) }
    } catch {
      // Closed meanwhile: the message names no process.
      return ""
    }
  }

  static func details(of error: LMDBError, in directory: String) -> String {
    error == .busy ? StoreLocks.writers(in: directory) : ""
  }
}
