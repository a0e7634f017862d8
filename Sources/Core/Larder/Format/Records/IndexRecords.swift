import LMDB
import LarderSystem

/// A record of the expiry index: a time, and the entries in a block of the queue that may expire at that time.
///
/// The key is the namespace id (4 bytes), the time (6 bytes), and the number of the block. The value has a bit for each
/// position of the block. A pinned entry has no position, so it has a record of its own: block 0, the stored key, and no value.
/// Entries that are written together often have the same time and consecutive positions, so a few records contain them.
struct ExpiryRecord: Sequence, IteratorProtocol {
  /// The latest time in the index, in the year 10889. Entries that expire later also get this time.
  static let latest: Int64 = 1 << 48 - 1
  /// The number of bytes before the number of the block.
  static let headSize = 10

  let block: ExpiryBlock
  /// Bit `n` is set if position `n` of the block has an entry. For a pinned entry bit 0 is set.
  let positions: UInt32
  /// The entry key of a pinned entry; empty for other entries.
  private let pinned: [UInt8]
  /// The positions that an iteration has not reached yet.
  private var left: UInt32

  init?(_ key: Span<UInt8>, _ value: Span<UInt8>) {
    guard let (number, end) = QueuePosition.read(key, at: Self.headSize),
      number <= ExpiryBlock.lastNumber
    else { return nil }
    block = ExpiryBlock(id: key.namespaceID, deadline: Self.deadline(of: key), number: number)
    if key.count > end {
      guard number == 0, value.isEmpty else { return nil }
      positions = 1
      pinned = key.extracting(0..<4).copied + key.extracting(end..<key.count).copied
    } else {
      guard let positions = Self.positions(value), positions != 0, number > 0 || positions & 1 == 0
      else { return nil }
      self.positions = positions
      pinned = []
    }
    left = positions
  }

  /// The value of a block's record; nil if the record is damaged.
  static func positions(_ value: Span<UInt8>) -> UInt32? {
    value.count == 4 ? value.halfWord(at: 0) : nil
  }

  /// Reads only the time, from a key of at least ``headSize`` bytes.
  static func deadline(of key: Span<UInt8>) -> Int64 {
    Int64(key.bigEndian(at: 2, as: UInt64.self) & (1 << 48 - 1))
  }

  func contains(_ position: UInt64) -> Bool { positions & ExpiryBlock.bit(of: position) != 0 }

  mutating func next() -> IndexedEntry? {
    if left == 0 { return nil }
    let position = block.firstPosition + UInt64(left.trailingZeroBitCount)
    left &= left &- 1
    return IndexedEntry(id: block.id, deadline: block.deadline, position: position, pinned: pinned)
  }
}

/// A time, and 32 consecutive positions in the queue of a namespace. Each record of the expiry index has one such block.
struct ExpiryBlock: Hashable, Comparable {
  private static let shift: UInt64 = 5
  static let lastNumber = (QueuePosition.limit - 1) >> shift

  let id: NamespaceID
  let deadline: Int64
  /// Each position of the block divided by 32, which gives one number for all of the positions.
  let number: UInt64
}

extension ExpiryBlock {
  @inline(__always)
  init(_ deadline: Int64, position: UInt64, in id: NamespaceID) {
    self.init(id: id, deadline: deadline, number: position &>> Self.shift)
  }

  fileprivate var firstPosition: UInt64 { number &<< Self.shift }

  /// Compares the times, then the namespaces, then the positions. In the index, the blocks of one namespace are in this order.
  static func < (left: ExpiryBlock, right: ExpiryBlock) -> Bool {
    (left.deadline, left.id, left.number) < (right.deadline, right.id, right.number)
  }

  @inline(__always)
  static func bit(of position: UInt64) -> UInt32 {
    1 &<< UInt32(truncatingIfNeeded: position & (1 &<< shift &- 1))
  }
}

struct IndexedEntry {
  let id: NamespaceID
  let deadline: Int64
  /// The position of the entry in the queue; 0 for a pinned entry.
  let position: UInt64
  /// The entry key of a pinned entry; empty for other entries.
  let pinned: [UInt8]

  /// The entry's key in the database of entries, found through the queue. Nil if damage has removed the queue record.
  func entryKey(
    in view: borrowing some DatabaseView & ~Copyable, _ indexes: Indexes
  ) throws(LMDBError) -> [UInt8]? {
    if position == 0 { return pinned }
    let key = IndexKey.queue(position, in: id)
    guard let storedKey = try view.value(for: key.span, in: indexes.queue) else { return nil }
    return id.prefix + storedKey.copied
  }

  /// The entry's key, for a write transaction, which can remove the queue record afterwards without another search.
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

  /// Whether the entry with this header is in the index under this time and position.
  func leads(to header: EntryHeader) -> Bool {
    header.deadline == deadline && header.sequence == position
  }
}

/// A record of the eviction queue: a position, and the entry at this position.
struct QueueRecord {
  let position: UInt64
  let entryKey: [UInt8]

  init?(_ key: Span<UInt8>, _ value: Span<UInt8>) {
    guard let position = Self.position(of: key), !value.isEmpty else { return nil }
    self.position = position
    entryKey = [UInt8](count: 4 + value.count) { entryKey in
      entryKey.append(contentsOf: key.extracting(0..<4))
      entryKey.append(contentsOf: value)
    }
  }

  /// Reads only the position; nil if the key is damaged.
  static func position(of key: Span<UInt8>) -> UInt64? {
    guard let (position, end) = QueuePosition.read(key, at: 4), end == key.count, position > 0
    else { return nil }
    return position
  }
}
