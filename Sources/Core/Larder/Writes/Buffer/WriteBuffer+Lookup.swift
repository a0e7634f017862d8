import LMDB
import LarderSystem
import Synchronization

extension WriteBuffer {
  struct Found: Equatable {
    var record: BufferRecord
    var offset: Int
    var generation: UInt64
  }

  /// The newest record of a key that a snapshot does not contain. The caller then checks the state with ``isStill(_:)``.
  func find(
    _ key: Span<UInt8>, in id: NamespaceID, keyHash: UInt64, _ state: BufferState,
    besides snapshot: UInt64
  ) -> Found? {
    let isNewer = snapshot > base(of: state)
    if isNewer, state.isFrozen { return nil }
    if let found = find(key, in: id, keyHash: keyHash, of: state.generation) { return found }
    guard state.hasOlder, !isNewer else { return nil }
    return find(key, in: id, keyHash: keyHash, of: state.olderGeneration)
  }

  func find(
    _ key: Span<UInt8>, in id: NamespaceID, keyHash: UInt64, of generation: UInt64
  ) -> Found? {
    let table = table
    return search(key, in: id, keyHash: keyHash, generation, table.view).found
  }

  /// The newest record of a key, and its place in the hash table. If the generation has no record of the key, a free place.
  @inline(__always)
  func search(
    _ key: Span<UInt8>, in id: NamespaceID, keyHash: UInt64, _ generation: UInt64,
    _ view: borrowing SharedTable.View
  ) -> (place: Int, found: Found?) {
    let (table, log) = (layout.table(of: generation), layout.log(of: generation))
    var place = Int(truncatingIfNeeded: keyHash ^ places.hash(of: key)) & (layout.slots - 1)
    for _ in 0..<layout.slots {
      let slot = BufferSlot(word: view.acquire(table + place))
      if !slot.isOf(generation) { break }
      if slot.mayBe(keyHash, generation),
        let record = BufferRecord(
          at: slot.offset, before: layout.logSize, of: generation, view, layout),
        record.isOf(key, in: id, keyHash, at: log + slot.offset, view)
      {
        return (table + place, Found(record: record, offset: slot.offset, generation: generation))
      }
      place = (place + 1) & (layout.slots - 1)
    }
    return (table + place, nil)
  }

  func lay(_ found: Found, on transaction: inout ReadTransaction) {
    let (record, table) = (found.record, table)
    let view = table.view
    transaction.overlay(record.keyHash, count: record.entryCount) { output in
      let start = layout.log(of: found.generation) + found.offset
      view.copy(record.entryCount, wide: start + record.entryStart, to: &output)
    }
  }

  /// Whether no record was committed or frozen after `state` was read. If so, all data read meanwhile belongs to `state`.
  func isStill(_ state: BufferState) -> Bool {
    atomicMemoryFence(ordering: .acquiring)
    return self.state.epoch == state.epoch
  }
}

extension EntryReader {
  /// A number for the newest state of the store; 0 if the store is closed. A read has it as ``ReadTransaction/moment``.
  @inline(__always)
  var moment: UInt64 {
    let commit = environment.lastTransaction
    guard commit > 0, let buffer else { return commit }
    let table = buffer.table
    let view = table.view
    // Lookups find the last record before its writer stores the state. So the record counts as soon as the log includes it.
    // The tail is loaded first, because a turn sets the tail to 0 before the turn stores the state.
    let tail = min(view.acquire(BufferLayout.Place.tail), UInt64(buffer.layout.logSize))
    let state = buffer.state(in: view)
    return commit &+ state.stamp &+ (state.hasRecords ? tail - min(tail, UInt64(state.end)) : 0)
  }

  /// Begins a snapshot for the lookup of one key. If the write buffer has a record of the key, the lookup finds this record.
  @inline(__always)
  func beginLookup(
    _ key: Span<UInt8>, of handle: NamespaceHandle
  ) throws(LarderError) -> ReadTransaction {
    guard let buffer else { return try beginRead() }
    let state = buffer.state
    if state.hasRecords { return try beginLookup(key, of: handle, buffer) }
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
      if !state.hasRecords { return transaction }
      if (1...BufferRecord.longestKey).contains(key.count),
        case let id = try identify(handle, in: transaction), id != .store
      {
        let keyHash = Checksum.keyHash(of: key, in: id)
        if let found = buffer.find(key, in: id, keyHash: keyHash, state, besides: transaction.id) {
          buffer.lay(found, on: &transaction)
        }
      }
      if buffer.isStill(state) { return transaction }
    }
    throw environment.larderError(.busy)
  }
}
