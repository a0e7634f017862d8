import LMDB
import LarderSystem

extension NamespaceRepair {
  /// Adds the missing index records of an entry. Removes the entry if it is damaged or contradicts itself.
  func mendEntry(
    _ entryKey: [UInt8], _ session: inout WriteSession
  ) throws(LarderError) {
    let found = try session.transaction.read { lmdb throws(LMDBError) -> (StoredEntry?, Bool)? in
      guard let record = try lmdb.value(for: entryKey, in: .entries) else { return nil }
      guard let entry = StoredEntry(entryKey: entryKey, record: record), entry.key != nil,
        entry.storedKey.isWellFormed, entry.isIntact(record)
      else { return (nil, false) }
      return (entry, try isWhole(entry, record, in: lmdb))
    }
    guard let (entry, isWhole) = found else { return }
    guard let entry else { return try session.removeDamaged(entryKey) }
    guard isWhole else { return try session.remove(entry, reason: .damaged) }
    try session.moveDeadline(of: entryKey, from: nil, to: entry.header.indexed)
    try session.moveInQueue(entryKey, from: 0, to: entry.header.sequence)
    for key in entry.tagKeys { try session.transaction.put([], for: key, in: indexes.tags) }
  }

  private func isWhole(
    _ entry: StoredEntry, _ record: Span<UInt8>, in view: borrowing WriteTransaction
  ) throws(LMDBError) -> Bool {
    let header = entry.header
    guard header.flags.contains(.tagged) != entry.fields.tags.isEmpty,
      header.deadline == EntryHeader.never || header.deadline <= max(header.staleUntil, 0)
    else { return false }
    guard entry.isCut else { return true }
    let payload = record.extracting(header.payloadStart..<record.count)
    return try view.assemble(payload, version: header.version, in: id, indexes.chunks) != nil
  }
}

extension Fault {
  var isMendable: Bool {
    switch self {
    case .damagedRecord, .sharedID: false
    default: true
    }
  }
}

extension Verification.Inconsistency {
  /// The record that a repair checks again; nil if the fault is not repaired at one record of a namespace.
  var record: (part: NamespaceRepair.Part, key: [UInt8])? {
    switch fault {
    case .damaged(let part, let key), .dangling(let part, let key): (part: part, key: key)
    case .earlyDeadline: nil
    default: entryKey.map { (part: .entries, key: $0) }
    }
  }
}
