import LMDB
import LarderSystem

/// The payload of an entry whose value is in chunks: the length of the value and its checksum.
struct ChunkedPayload {
  var count: Int
  var checksum: UInt64

  static let size = 16
  /// The seed of ``checksum``. Checksums of other kinds have other seeds.
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

  var encoded: [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(word: UInt64(count))
    bytes.append(word: checksum)
    return bytes
  }
}

struct ChunkAssembly {
  let prefix: [UInt8]
  private let expected: ChunkedPayload
  private var value: [UInt8] = []
  private var next: UInt32 = 0

  init?(_ payload: Span<UInt8>, version: UInt64, in id: NamespaceID) {
    guard let expected = ChunkedPayload(payload) else { return nil }
    self.expected = expected
    prefix = IndexKey.chunks(of: version, in: id)
    value.reserveCapacity(min(expected.count, 64 << 20))
  }

  /// Appends the next record of the database. Returns false if the record is not the next chunk, or if the value is complete.
  mutating func append(_ key: Span<UInt8>, _ chunk: Span<UInt8>) -> Bool {
    guard value.count < expected.count, key.count == prefix.count + 4,
      key.starts(with: prefix.span), key.bigEndian(at: prefix.count) == next
    else { return false }
    value.append(contentsOf: chunk)
    next += 1
    return value.count < expected.count
  }

  /// The value; nil if a chunk is missing or the checksum of the value does not match.
  var result: [UInt8]? {
    value.count == expected.count
      && Checksum.of(value.span, seed: ChunkedPayload.seed) == expected.checksum
      ? value : nil
  }
}

extension DatabaseView where Self: ~Copyable {
  /// The value of an entry whose value is in chunks; nil if the payload is damaged, or a chunk is missing or damaged.
  func assemble(
    _ payload: Span<UInt8>, version: UInt64, in id: NamespaceID, _ chunks: Database
  ) throws(LMDBError) -> [UInt8]? {
    guard var assembly = ChunkAssembly(payload, version: version, in: id) else { return nil }
    var cursor = try cursor(in: chunks)
    var record = try cursor.seek(assembly.prefix.span)
    while let chunk = record, assembly.append(chunk.key, chunk.value) {
      record = try cursor.next()
    }
    return assembly.result
  }
}
