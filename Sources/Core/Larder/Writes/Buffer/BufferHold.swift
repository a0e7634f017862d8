import LMDB
import LarderSystem

/// The hold of a transaction on the write buffer. Nobody appends while the transaction is open, and its commit stores the records.
struct BufferHold {
  private let buffer: WriteBuffer?
  private var isHeld = false
  /// The records to be committed; nil if the records are in LMDB already.
  private var state: BufferState?
  private var terms = BufferTerms()

  init(_ buffer: WriteBuffer?) { self.buffer = buffer }

  mutating func begin(on commit: UInt64, lockTimeout: Duration) throws(LMDBError) {
    guard let buffer else { return }
    state = try buffer.freeze(on: commit, lockTimeout: lockTimeout)
    isHeld = true
  }

  /// Stores the records, before the batch makes changes of its own.
  func drain(_ batch: inout WriteBatch) throws(LarderError) {
    if let buffer, let state { try batch.drain(buffer, state) }
  }

  /// The batch has made all of its changes.
  mutating func note(_ batch: borrowing WriteBatch) {
    if isHeld { terms = batch.bufferTerms }
    KillPoint.pass(8)
  }

  /// The transaction has ended, and no other has begun.
  func end(newest: UInt64, in environment: Environment) {
    guard isHeld, let buffer else { return }
    buffer.thaw(newest: newest, in: environment, terms)
  }
}
