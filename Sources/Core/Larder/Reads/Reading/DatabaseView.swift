import LMDB
import LarderSystem

/// The databases in the state of a snapshot, or in the state of a write with its changes so far.
protocol DatabaseView: ~Copyable {
  @_lifetime(borrow self)
  func cursor(in database: Database) throws(LMDBError) -> Cursor

  @_lifetime(borrow self)
  func value(for key: Span<UInt8>, in database: Database) throws(LMDBError) -> Span<UInt8>?
}

extension DatabaseView where Self: ~Copyable {
  /// Visits the records whose keys begin with `prefix`, in key order.
  func forEach(
    in database: Database, from prefix: [UInt8] = [],
    _ visit: (_ key: Span<UInt8>, _ value: Span<UInt8>) throws(LMDBError) -> Void
  ) throws(LMDBError) {
    var cursor = try cursor(in: database)
    var record = try cursor.seek(prefix.span)
    while let found = record, found.key.starts(with: prefix.span) {
      try visit(found.key, found.value)
      record = try cursor.next()
    }
  }

  /// The value of an entry whose value is in chunks; nil if the payload is damaged, or a chunk is missing or damaged.
  func assemble(
    _ payload: Span<UInt8>, version: UInt64, in id: NamespaceID, _ chunks: Database
  ) throws(LMDBError) -> [UInt8]? {
    guard let expected = ChunkedPayload(payload) else { return nil }
    let prefix = IndexKey.chunks(of: version, in: id)
    var value: [UInt8] = []
    value.reserveCapacity(min(expected.count, 64 << 20))
    var number: UInt32 = 0
    var cursor = try cursor(in: chunks)
    var record = try cursor.seek(prefix.span)
    while let chunk = record, value.count < expected.count, chunk.key.count == prefix.count + 4,
      chunk.key.starts(with: prefix.span), chunk.key.bigEndian(at: prefix.count) == number
    {
      value.append(contentsOf: chunk.value)
      if value.count >= expected.count { break }
      number += 1
      record = try cursor.next()
    }
    return ChunkedPayload(of: value.span) == expected ? value : nil
  }
}

extension ReadTransaction: DatabaseView {
  @_lifetime(borrow self)
  func value(for key: Span<UInt8>, in database: Database) throws(LMDBError) -> Span<UInt8>? {
    guard let region = try find(key, in: database) else { return nil }
    return bytes(of: region)
  }

  func find(_ key: [UInt8], in database: Database) throws(LMDBError) -> Region? {
    try find(key.span, in: database)
  }
}

extension WriteTransaction: DatabaseView {
  @_lifetime(borrow self)
  func value(for key: [UInt8], in database: Database) throws(LMDBError) -> Span<UInt8>? {
    try value(for: key.span, in: database)
  }

  mutating func put(_ value: [UInt8], for key: [UInt8], in database: Database) throws(LMDBError) {
    try put(value.span, for: key.span, in: database)
  }
}

/// The payload of an entry whose value is in chunks: the length of the value and its checksum.
struct ChunkedPayload: Equatable {
  var count: Int
  var checksum: UInt64

  static let size = 16
  /// The seed of ``checksum``. Checksums of other kinds have other seeds, so no record passes for another kind.
  static let seed: UInt64 = 3

  init(of value: Span<UInt8>) {
    count = value.count
    checksum = Checksum.of(value, seed: Self.seed)
  }

  init?(_ payload: Span<UInt8>) {
    guard payload.count == Self.size, payload.word(at: 0) <= UInt64(Rules.largestPossibleValue)
    else { return nil }
    count = Int(payload.word(at: 0))
    checksum = payload.word(at: 8)
  }

  var encoded: [UInt8] { [UInt8](littleEndian: UInt64(count)) + [UInt8](littleEndian: checksum) }
}
