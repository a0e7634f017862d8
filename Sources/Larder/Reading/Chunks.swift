import LMDB
import LarderSystem

/// The payload of an entry whose value lies in chunks: how long it is and its checksum.
struct ChunkedPayload {
  var count: Int
  var checksum: UInt64

  static let size = 16

  init(of value: Span<UInt8>) {
    count = value.count
    checksum = Checksum.of(value, seed: 3)
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

extension StoreEngine {
  /// Puts a value together from its chunks; nil if one is missing or the whole is not what was written.
  func assemble(
    _ payload: Span<UInt8>, id: NamespaceID, version: UInt64,
    in transaction: borrowing ReadTransaction
  ) throws(LarderError) -> [UInt8]? {
    guard let expected = ChunkedPayload(payload) else { return nil }
    let prefix = Array(IndexKey.chunk(0, of: version, in: id).dropLast(4))
    do throws(LMDBError) {
      var value: [UInt8] = []
      value.reserveCapacity(expected.count)
      var cursor = try transaction.cursor(in: indexes.chunks)
      var next: UInt32 = 0
      var record = try cursor.seek(prefix.span)
      while let chunk = record, value.count < expected.count {
        guard chunk.key.count == 16, chunk.key.starts(with: prefix.span),
          chunk.key.bigEndian(at: 12) == next
        else { return nil }
        value.append(contentsOf: chunk.value)
        next += 1
        record = try cursor.next()
      }
      let whole =
        value.count == expected.count && Checksum.of(value.span, seed: 3) == expected.checksum
      return whole ? value : nil
    } catch {
      throw self.error(error)
    }
  }
}
