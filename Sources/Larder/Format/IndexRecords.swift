import LMDB
import LarderSystem

/// A record of the expiry index: a time, and the entry that may end then.
///
/// The key is namespace id (4 bytes), time (6 bytes), then the entry's position in the queue. A pinned entry has none: its
/// position is 0, and the stored key follows. The record has no value.
struct ExpiryRecord {
  /// The latest time that can be indexed, in the year 10889. A later end is indexed there and found alive.
  static let latest: Int64 = 1 << 48 - 1
  /// Bytes in front of the position.
  static let headSize = 10

  let id: NamespaceID
  /// The time under which the entry is indexed.
  let deadline: Int64
  /// 0 for a pinned entry.
  let position: UInt64
  /// The entry key of a pinned entry; empty for others.
  private let pinned: [UInt8]

  /// Nil if the key is damaged.
  init?(_ key: Span<UInt8>) {
    guard let (position, end) = QueuePosition.read(key, at: Self.headSize),
      (position == 0) == (key.count > end)
    else { return nil }
    id = key.namespaceID
    deadline = Self.deadline(of: key)
    self.position = position
    pinned =
      position == 0
      ? key.extracting(0..<4).copied + key.extracting(end..<key.count).copied : []
  }

  /// The time alone, of a key of at least ``headSize`` bytes.
  static func deadline(of key: Span<UInt8>) -> Int64 {
    Int64(key.bigEndian(at: 4, as: UInt16.self)) << 32
      | Int64(key.bigEndian(at: 6, as: UInt32.self))
  }

  /// The entry's key in the main database, by way of the queue; nil if it has no record there, which only damage can cause.
  func entryKey(
    in transaction: borrowing ReadTransaction, _ indexes: Indexes
  ) throws(LMDBError) -> [UInt8]? {
    if position == 0 { return pinned }
    guard let region = try transaction.find(IndexKey.queue(position, in: id), in: indexes.queue)
    else { return nil }
    return id.prefix + transaction.bytes(of: region).copied
  }

  /// The same in a write transaction, which can then remove the queue's record without another search.
  func entryKey(
    in transaction: inout WriteTransaction, _ indexes: Indexes
  ) throws(LMDBError) -> [UInt8]? {
    if position == 0 { return pinned }
    return try IndexKey.withQueue(position, in: id) { key throws(LMDBError) -> [UInt8]? in
      guard let storedKey = try transaction.locate(key, in: indexes.queue) else { return nil }
      return [UInt8](count: 4 + storedKey.count) { bytes in
        bytes.append(bigEndian: id.rawValue)
        bytes.append(contentsOf: storedKey)
      }
    }
  }

  /// Whether an entry is indexed by this record.
  func leads(to header: EntryHeader) -> Bool {
    header.deadline == deadline && header.sequence == position
  }
}

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
