import CLMDB
import LarderSystem
import Synchronization

/// LMDB's reader table. LMDB reuses no page that a snapshot in the table may need, so slots of ended processes must be freed.
package final class ReaderTable: Sendable {
  static let size = 1022
  /// In milliseconds. A slot that this process has not used for one to two intervals is released.
  private static let sweepInterval: Int64 = 5000
  private static let clearingInterval: Int64 = 60_000

  private let handle: EnvironmentHandle
  private let timer: TimerThread?
  /// The time of the next release, in milliseconds of the monotonic clock; 0 if no release is scheduled.
  private let nextSweep = Atomic<Int64>(0)
  /// The time of the next clearing by a write, in milliseconds of the monotonic clock.
  private let nextClearing = Atomic<Int64>(0)

  init(of handle: EnvironmentHandle, timer: TimerThread?) {
    self.handle = handle
    self.timer = timer
  }

  /// A slot in use: its process, and the transaction of its snapshot. The transaction is nil for a slot without a snapshot.
  package struct Reader: Sendable, Equatable {
    package var process: Int
    package var transaction: UInt64?
  }

  package func readers() throws(LMDBError) -> [Reader] {
    @safe final class Lines { var text = "" }
    let lines = Lines()
    let result = try handle.withMap { () throws(LMDBError) in
      unsafe clmdb_reader_list(
        handle.pointer,
        { text, context in
          let lines = unsafe Unmanaged<Lines>.fromOpaque(context!).takeUnretainedValue()
          if let text = unsafe text { unsafe lines.text += String(cString: text) }
          return 0
        }, Unmanaged.passUnretained(lines).toOpaque())
    }
    if result < 0 { throw LMDBError(code: result) }
    return lines.text.split(separator: "\n").compactMap { line in
      let words = line.split(separator: " ")
      guard words.count == 3, let process = Int(words[0]) else { return nil }
      return Reader(process: process, transaction: UInt64(words[2]))
    }
  }

  /// The processes with the most slots, for messages: `12 (larder): 16, 13 (editor): 8`.
  var description: String {
    do throws(LMDBError) {
      var counts: [Int: Int] = [:]
      for reader in try readers() { counts[reader.process, default: 0] += 1 }
      let most = counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.prefix(8)
      let words = most.map { "\(LockHolders.description(of: Int32($0.key))): \($0.value)" }
      let others = counts.count - most.count
      return words.joined(separator: ", ") + (others > 0 ? ", and \(others) other processes" : "")
    } catch {
      // If the environment was closed during this call, the message names no process.
      return handle.isOpen ? "unknown" : ""
    }
  }

  /// Frees the slots of ended processes, whose snapshots prevent LMDB from reusing pages. Returns the number of freed slots.
  @discardableResult
  package func clearDead() throws(LMDBError) -> Int {
    try handle.withMap { () throws(LMDBError) in try handle.clearDeadReaders() }
  }

  /// Called before each write if there are no checkpoints, which would free these slots. The caller has the writer's slot.
  func clearDeadIfDue() {
    let now = SystemTime.monotonicMilliseconds
    guard now >= nextClearing.load(ordering: .relaxed) else { return }
    nextClearing.store(now + Self.clearingInterval, ordering: .relaxed)
    // An error is ignored here, because the write itself needs no free slots, and a write after the interval tries again.
    _ = try? handle.clearDeadReaders()
  }

  /// See ``Environment/blockingReader()``.
  func outdatedReader() throws(LMDBError) -> Reader? {
    try handle.withMap { () throws(LMDBError) in
      let oldest = unsafe clmdb_oldest_reader(handle.pointer)
      guard oldest.transaction < handle.data.lastTransaction else { return nil }
      return Reader(process: oldest.process, transaction: oldest.transaction)
    }
  }

  /// Releases slots that were not used after the last call, so that idle processes do not fill the table.
  package func releaseIdle() { if handle.readers.sweep() { scheduleSweep() } }

  /// Called when a slot is taken. Schedules the next release.
  func scheduleSweep() {
    let time = SystemTime.monotonicMilliseconds + Self.sweepInterval
    let isFirst = nextSweep.compareExchange(expected: 0, desired: time, ordering: .relaxed)
    if isFirst.exchanged { timer?.schedule(in: Self.sweepInterval) }
  }

  func sweepIfDue() {
    let time = nextSweep.load(ordering: .relaxed)
    if time == 0 { return }
    let left = time - SystemTime.monotonicMilliseconds
    if left > 0 {
      timer?.schedule(in: left)
      return
    }
    nextSweep.store(0, ordering: .relaxed)
    if handle.isOpen { releaseIdle() }
  }
}
