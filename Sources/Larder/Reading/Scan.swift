import LMDB
import LarderSystem

extension StoreEngine {
  /// How many records a scan looks at in one snapshot before it takes a new one.
  static let recordsPerSnapshot = 1000
  static let bytesPerSnapshot = 8 << 20

  /// What a scan has come to.
  struct ScanPosition {
    /// The slot of the last record looked at; the scan goes on behind it.
    var last: [UInt8]
    var isAtEnd: Bool
  }

  /// Visits a namespace's entries in stored order, behind `position`, within one snapshot and a bounded number of records.
  ///
  /// Damaged entries are passed over. `visit` answers whether to go on.
  func scan(
    _ id: NamespaceID, prefix: [UInt8], behind position: [UInt8]?,
    in transaction: borrowing ReadTransaction,
    _ visit: (StoredEntry, [UInt8], Span<UInt8>) throws -> Bool
  ) throws -> ScanPosition {
    try scanRecords(id, prefix: prefix, behind: position, in: transaction) { slot, record in
      guard let entry = StoredEntry(slot: slot.copied, record: record), let key = entry.key,
        key.starts(with: prefix),
        isIntact(entry.header, record: record, place: Checksum.place(of: key.span, in: id)),
        try !isHidden(entry.header, id: id, record: record, in: transaction)
      else { return true }
      return try visit(entry, key, record.extracting(entry.header.payloadStart..<record.count))
    }
  }

  /// Visits the records whose slots may be those of keys that begin with `prefix`.
  @inline(__always)
  func scanRecords(
    _ id: NamespaceID, prefix: [UInt8], behind position: [UInt8]?,
    in transaction: borrowing ReadTransaction,
    _ visit: (_ slot: Span<UInt8>, _ record: Span<UInt8>) throws -> Bool
  ) throws -> ScanPosition {
    var slotPrefix: [UInt8] = []
    slotPrefix.append(id: id)
    // Long keys are stored with their first bytes, so a prefix longer than that is compared with the whole key.
    slotPrefix += prefix.prefix(StoredKey.headCount)
    let start =
      position.map { $0.lexicographicallyPrecedes(slotPrefix) ? slotPrefix : $0 } ?? slotPrefix
    var looked = 0
    var bytes = 0
    var cursor = try transaction.cursor(in: .main)
    var record = try cursor.seek(start.span)
    if let position, let first = record, first.key.elementsEqual(position.span) {
      record = try cursor.next()
    }
    while let found = record, found.key.starts(with: slotPrefix.span) {
      looked += 1
      bytes += found.value.count
      let isWanted = try visit(found.key, found.value)
      if !isWanted || looked >= Self.recordsPerSnapshot || bytes >= Self.bytesPerSnapshot {
        return ScanPosition(last: found.key.copied, isAtEnd: false)
      }
      record = try cursor.next()
    }
    return ScanPosition(last: start, isAtEnd: true)
  }
}
