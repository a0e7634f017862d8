import LMDB
import LarderSystem
import Synchronization

extension WriteBuffer {
  struct Found: Equatable {
    var record: BufferRecord
    var offset: Int
  }

  /// The newest record of a key in a state. The caller must then check with ``isStill(_:)`` that the records are still valid.
  func find(
    _ key: Span<UInt8>, in id: NamespaceID, keyHash: UInt64, _ state: BufferState
  ) -> Found? {
    let table = table
    return search(key, in: id, keyHash: keyHash, state, table.view).found
  }

  /// The place in the hash table of the newest record of a key, and that record. If there is no such record, a free place.
  @inline(__always)
  func search(
    _ key: Span<UInt8>, in id: NamespaceID, keyHash: UInt64, _ state: BufferState,
    _ view: borrowing SharedTable.View
  ) -> (place: Int, found: Found?) {
    var place = Int(truncatingIfNeeded: keyHash) & (layout.slots - 1)
    for _ in 0..<layout.slots {
      let slot = BufferSlot(word: view.acquire(BufferLayout.Place.table + place))
      if !slot.isOf(state) { break }
      if slot.mayBe(keyHash, state),
        let record = BufferRecord(at: slot.offset, before: layout.logSize, view, layout),
        record.isOf(key, in: id, keyHash, at: slot.offset, view, layout)
      {
        return (place, Found(record: record, offset: slot.offset))
      }
      place = (place + 1) & (layout.slots - 1)
    }
    return (place, nil)
  }

  func lay(_ found: Found, on transaction: inout ReadTransaction) {
    let (record, table) = (found.record, table)
    let view = table.view
    transaction.overlay(record.keyHash, count: record.entryCount) { output in
      view.copy(record.entryCount, wide: layout.log + found.offset + record.entryStart, to: &output)
    }
  }

  /// Whether no record was committed or frozen after `state` was read. If so, all data read meanwhile belongs to `state`.
  func isStill(_ state: BufferState) -> Bool {
    atomicMemoryFence(ordering: .acquiring)
    return self.state.epoch == state.epoch
  }
}

extension BufferRecord {
  fileprivate func isOf(
    _ key: Span<UInt8>, in id: NamespaceID, _ keyHash: UInt64, at offset: Int,
    _ view: borrowing SharedTable.View, _ layout: BufferLayout
  ) -> Bool {
    self.keyHash == keyHash && self.id == id && keyCount == key.count
      && view.holds(key, wide: layout.log + offset + Self.headerSize)
  }
}

extension EntryReader {
  /// A number for the newest state of the store; 0 if the store is closed. ``ReadTransaction/moment`` is the same for a read.
  @inline(__always)
  var moment: UInt64 {
    let commit = environment.lastTransaction
    guard commit > 0, let buffer else { return commit }
    return commit &+ buffer.state.stamp
  }

  /// Begins a snapshot for the lookup of one key. If the write buffer has a record of the key, that record is found first.
  @inline(__always)
  func beginLookup(
    _ key: Span<UInt8>, of handle: NamespaceHandle
  ) throws(LarderError) -> ReadTransaction {
    guard let buffer else { return try beginRead() }
    let state = buffer.state
    if state.end > 0 { return try beginLookup(key, of: handle, buffer) }
    var transaction = try beginRead()
    transaction.stamp = state.stamp
    return transaction
  }

  @inline(never)
  private func beginLookup(
    _ key: Span<UInt8>, of handle: NamespaceHandle, _ buffer: WriteBuffer
  ) throws(LarderError) -> ReadTransaction {
    for _ in 0..<1000 {
      // If a write returned before this line, its record is in this state or in the snapshot.
      let state = buffer.state
      var transaction = try beginRead()
      transaction.stamp = state.stamp
      if state.end == 0 { return transaction }
      let isContained = buffer.isContained(state, in: transaction.id)
      if !isContained, (1...BufferRecord.longestKey).contains(key.count),
        case let id = try identify(handle, in: transaction), id != .store
      {
        let keyHash = Checksum.keyHash(of: key, in: id)
        if let found = buffer.find(key, in: id, keyHash: keyHash, state) {
          buffer.lay(found, on: &transaction)
        }
      }
      if buffer.isStill(state) { return transaction }
    }
    throw environment.larderError(.busy)
  }
}
