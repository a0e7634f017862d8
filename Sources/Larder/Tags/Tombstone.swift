import LMDB
import LarderSystem

/// An invalidated tag some of whose entries have not been removed yet: nobody finds them any more.
///
/// A record of the catalogue under a number of its own: a checksum, the tag, and for each namespace it is about the number
/// that the next value there was to get. Values with lower numbers are meant; later ones carry the tag rightfully.
struct Tombstone: Equatable, Sendable {
  var tag: [UInt8]
  /// The namespaces as they were then, and the first number in each that is not meant.
  var horizon: [NamespaceID: UInt64]
  /// The last record of the tag that was looked at; removing goes on behind it.
  var reached: [UInt8] = []

  init(tag: [UInt8], horizon: [NamespaceID: UInt64]) {
    self.tag = tag
    self.horizon = horizon
  }

  /// Nil for a damaged record.
  init?(_ bytes: Span<UInt8>) {
    guard bytes.count >= 16,
      bytes.word(at: 0) == Checksum.of(bytes.extracting(8..<bytes.count), seed: 8)
    else { return nil }
    let tagCount = Int(bytes.halfWord(at: 8))
    let count = Int(bytes.halfWord(at: 12))
    let start = 16 + tagCount
    guard start + 12 * count <= bytes.count else { return nil }
    tag = bytes.extracting(16..<start).copied
    horizon = [:]
    for index in 0..<count {
      let offset = start + 12 * index
      horizon[NamespaceID(rawValue: bytes.halfWord(at: offset))] = bytes.word(at: offset + 4)
    }
    reached = bytes.extracting(start + 12 * count..<bytes.count).copied
  }

  var encoded: [UInt8] {
    var rest: [UInt8] = []
    rest.append(littleEndian: UInt32(tag.count))
    rest.append(littleEndian: UInt32(horizon.count))
    rest += tag
    for (id, next) in horizon.sorted(by: { $0.key < $1.key }) {
      rest.append(littleEndian: id.rawValue)
      rest.append(word: next)
    }
    rest += reached
    var bytes: [UInt8] = []
    bytes.append(word: Checksum.of(rest.span, seed: 8))
    return bytes + rest
  }

  /// Whether it is about the entry with that number and those tags.
  func hides(_ id: NamespaceID, version: UInt64, tags: [[UInt8]]) -> Bool {
    guard let next = horizon[id], version < next else { return false }
    return tags.contains(tag)
  }
}
