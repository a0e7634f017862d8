import LMDB
import LarderSystem

/// The keys of the index databases. `Docs/Internals/FileFormat.md` lists these keys.
enum IndexKey {
  /// The key in the expiry index: namespace, time, then a block of positions in the queue; see ``ExpiryRecord``. So the keys of
  /// due entries are the first keys of a namespace. The key of a pinned entry has position 0 and ends with the stored key.
  static func deadline(_ deadline: Int64, position: UInt64, entry: [UInt8]) -> [UInt8] {
    let block = ExpiryBlock(deadline, position: position, in: entry.span.namespaceID)
    let key = withDeadline(of: block) { $0.copied }
    return position == 0 ? key + entry.dropFirst(4) : key
  }

  @inline(__always)
  static func withDeadline<Result, Failure: Error>(
    of block: ExpiryBlock, _ body: (Span<UInt8>) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let time = UInt64(bitPattern: min(max(block.deadline, 0), ExpiryRecord.latest))
    return try withStackBytes(
      ExpiryRecord.headSize + QueuePosition.size(of: block.number),
      {
        $0.append(bigEndian: block.id.rawValue)
        $0.append(bigEndian: UInt16(truncatingIfNeeded: time &>> 32))
        $0.append(bigEndian: UInt32(truncatingIfNeeded: time))
        QueuePosition.append(block.number, to: &$0)
      }, body)
  }

  /// The key in the queue, which has the entries of a namespace in the order of positions. The value is the stored key.
  static func queue(_ position: UInt64, in id: NamespaceID) -> [UInt8] {
    withQueue(position, in: id) { $0.copied }
  }

  @inline(__always)
  static func withQueue<Result, Failure: Error>(
    _ position: UInt64, in id: NamespaceID, _ body: (Span<UInt8>) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try withStackBytes(
      4 + QueuePosition.size(of: position),
      {
        $0.append(bigEndian: id.rawValue)
        QueuePosition.append(position, to: &$0)
      }, body)
  }

  /// The key in the tag index: the keys of all entries with a tag are a range. A tag has no byte 0, so a byte 0 ends the tag.
  static func tag(_ tag: [UInt8], entry: [UInt8]) -> [UInt8] { tag + [0] + entry }

  /// The key in the tag index for an owner: all dependents of an owner are a range. No tag begins with a byte 0, so this byte
  /// marks an owner. The key has only a hash of the owner's entry key, so the caller must compare the fields of each entry.
  static func owner(_ owner: [UInt8], entry: [UInt8]) -> [UInt8] {
    [UInt8](count: 9 + entry.count) {
      $0.append(0)
      $0.append(bigEndian: Checksum.of(owner.span, seed: 7))
      $0.append(contentsOf: entry.span)
    }
  }

  /// The entry key in a key of the tag index, for a tag or an owner; nil if the key is damaged.
  static func tagged(_ key: [UInt8]) -> [UInt8]? {
    guard let end = key.firstIndex(of: 0) else { return nil }
    let entryKey = Array(key.dropFirst(end == 0 ? 9 : end + 1))
    return entryKey.count > 4 ? entryKey : nil
  }

  /// The key of a chunk. The keys of the chunks of one version are a range, in the order of the bytes of the value.
  static func chunk(_ index: UInt32, of version: UInt64, in id: NamespaceID) -> [UInt8] {
    var bytes = chunks(of: version, in: id)
    bytes.append(bigEndian: index)
    return bytes
  }

  static func chunks(of version: UInt64, in id: NamespaceID) -> [UInt8] {
    [UInt8](count: 12) {
      $0.append(bigEndian: id.rawValue)
      $0.append(bigEndian: version)
    }
  }

  static let longestTag = 200
}

/// A position in the queue, as stored in keys: as short as the number allows, and sorted like the numbers. The high 3 bits of
/// the first byte are the number of further bytes. The other bits are the position, big-endian.
enum QueuePosition {
  /// All positions and versions are below this number.
  static let limit: UInt64 = 1 << 61

  @inline(__always)
  private static func following(_ position: UInt64) -> Int {
    (UInt64.bitWidth &- position.leadingZeroBitCount &+ 2) &>> 3
  }

  @inline(__always)
  static func size(of position: UInt64) -> Int { position < limit ? 1 + following(position) : 9 }

  /// Appends a position. A position of ``limit`` or more sorts after all other positions, and can end a range.
  static func append(_ position: UInt64, to bytes: inout OutputSpan<UInt8>) {
    guard position < limit else {
      bytes.append(UInt8.max)
      bytes.append(word: .max)
      return
    }
    var shift = 8 &* following(position)
    bytes.append(UInt8(truncatingIfNeeded: shift &<< 2 | Int(position &>> UInt64(shift))))
    while shift > 0 {
      shift &-= 8
      bytes.append(UInt8(truncatingIfNeeded: position &>> UInt64(shift)))
    }
  }

  /// Reads the position at `offset`. Nil if the position is incomplete or not in its shortest form.
  static func read(_ bytes: Span<UInt8>, at offset: Int) -> (position: UInt64, end: Int)? {
    guard offset < bytes.count else { return nil }
    let following = Int(bytes[offset] >> 5)
    let end = offset + 1 + following
    guard end <= bytes.count else { return nil }
    var position = UInt64(bytes[offset] & 0x1F)
    for index in offset + 1..<end { position = position << 8 | UInt64(bytes[index]) }
    let isShortest = following == 0 || position >> (8 * following - 3) != 0
    return isShortest ? (position, end) : nil
  }
}

extension Database {
  /// The database of entries, which is the first of ``Indexes/names``.
  static var entries: Database { .firstNamed }
}

/// The databases besides the main database. An opening of the store opens these databases once.
struct Indexes: Sendable {
  static let names = ["entries", "deadlines", "queue", "tags", "chunks"]

  let deadlines: Database
  let queue: Database
  let tags: Database
  let chunks: Database

  var all: [Database] { [.entries, deadlines, queue, tags, chunks] }

  init(_ databases: [Database]) {
    precondition(databases[0] == .entries)
    deadlines = databases[1]
    queue = databases[2]
    tags = databases[3]
    chunks = databases[4]
  }
}
