import LMDB
import LarderSystem

/// A record of the queue: when an entry came, and where it is.
struct QueueRecord {
  let sequence: UInt64
  /// The entry's key in the main database.
  let slot: [UInt8]

  /// Nil if it is no such record.
  init?(_ key: Span<UInt8>, _ value: Span<UInt8>) {
    guard key.count == 12 else { return nil }
    sequence = key.bigEndian(at: 4)
    slot = key.extracting(0..<4).copied + value.copied
  }

  /// What the record in that slot is to a policy; nil if it is not the entry that came then.
  func candidate(_ record: Span<UInt8>) -> Candidate? {
    guard let entry = StoredEntry(slot: slot, record: record), entry.header.sequence == sequence
    else { return nil }
    let key = entry.key ?? []
    return Candidate(
      sequence: sequence, size: UInt64(entry.valueCount),
      hash: Checksum.place(of: key.span, in: entry.id), slot: slot)
  }
}
