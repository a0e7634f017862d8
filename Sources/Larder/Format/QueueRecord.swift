import LMDB
import LarderSystem

/// A record of the queue: a position, and the entry that has it.
struct QueueRecord {
  let position: UInt64
  /// The entry's key in the main database.
  let entryKey: [UInt8]

  /// Nil if it is damaged.
  init?(_ key: Span<UInt8>, _ value: Span<UInt8>) {
    guard let position = Self.position(of: key), !value.isEmpty else { return nil }
    self.position = position
    entryKey = key.extracting(0..<4).copied + value.copied
  }

  /// The position alone; nil if the key is damaged.
  static func position(of key: Span<UInt8>) -> UInt64? {
    guard let (position, end) = QueuePosition.read(key, at: 4), end == key.count, position > 0
    else { return nil }
    return position
  }

  /// The entry as an eviction policy sees it; nil if the record is not the entry that has this position.
  func candidate(_ record: Span<UInt8>) -> Candidate? {
    guard let entry = StoredEntry(entryKey: entryKey, record: record),
      entry.header.sequence == position
    else { return nil }
    let key = entry.key ?? []
    return Candidate(
      sequence: position, size: UInt64(entry.valueCount),
      hash: Checksum.keyHash(of: key.span, in: entry.id), slot: entryKey)
  }
}
