import LMDB
import LarderSystem
import Synchronization

/// The counters as this process committed them last. A write that follows that commit reads no record of counters.
///
/// Only the writer uses them, under the writer lock.
final class CommittedCounters: Sendable {
  /// The counters, and the serial number of the write that kept them.
  private let latest = Mutex<(serial: UInt64, counters: BatchCounters)?>(nil)

  /// The counters that `transaction` begins with: those that were kept if that write made the last commit, else the store's.
  func begin(
    _ transaction: borrowing WriteTransaction, _ seal: RecordSeal
  ) throws(LMDBError) -> BatchCounters {
    let former = transaction.formerSerial
    if let known = latest.withLock({ $0?.serial == former ? $0?.counters : nil }) { return known }
    return BatchCounters(try transaction.stateOrRebuilt(seal), seal: seal)
  }

  /// Keeps the counters that a write is about to commit. If that fails, they are never used.
  func keep(_ counters: borrowing BatchCounters, ofWrite serial: UInt64) {
    let next = counters.afterCommit
    latest.withLock { $0 = (serial, next) }
  }
}
