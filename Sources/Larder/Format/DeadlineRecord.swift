import LMDB
import LarderSystem

/// What a key of the deadline index says: which entry, and the time it is indexed under.
struct DeadlineRecord {
  /// The entry's key in the main database.
  let slot: [UInt8]
  let deadline: Int64

  /// Nil for a key too short to lead anywhere, which is damage.
  init?(_ key: Span<UInt8>) {
    guard key.count > Self.headCount else { return nil }
    deadline = Self.deadline(of: key)
    slot = key.extracting(0..<4).copied + key.extracting(Self.headCount..<key.count).copied
  }

  /// Bytes of the id and the time in front of the stored key.
  static let headCount = 12

  /// The time alone, of a key of at least 12 bytes.
  static func deadline(of key: Span<UInt8>) -> Int64 { key.bigEndian(at: 4) }
}
