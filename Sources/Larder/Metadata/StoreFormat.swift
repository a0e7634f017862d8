import LMDB
import LarderSystem

/// The record `F`: says that a file is a Larder store, of which format, and which store.
struct StoreFormat {
  static let mark = Array("larder".utf8) + [0, 0]
  /// The only format that this version reads and writes.
  static let current: UInt32 = 3

  var version: UInt32
  /// 16 random bytes that identify the store. Its own records are sealed with them, and a page cursor of another store is
  /// refused by them.
  var identity: [UInt8]

  static func new() -> StoreFormat {
    var generator = SystemRandomNumberGenerator()
    var identity: [UInt8] = []
    identity.append(word: generator.next())
    identity.append(word: generator.next())
    return StoreFormat(version: current, identity: identity)
  }

  private init(version: UInt32, identity: [UInt8]) {
    self.version = version
    self.identity = identity
  }

  /// The result of reading the record.
  enum Contents {
    case format(StoreFormat)
    /// It is not a record of Larder's.
    case foreign
    /// It is one of this format, and its checksum does not match.
    case damaged
  }

  /// The mark and the version have had their place since format 1, so that every version can name the format of any store.
  static func read(_ bytes: Span<UInt8>) -> Contents {
    guard bytes.count >= 28, bytes.starts(with: mark.span) else { return .foreign }
    let format = StoreFormat(
      version: bytes.halfWord(at: 8), identity: bytes.extracting(12..<28).copied)
    if format.version == current, !bytes.elementsEqual(format.encoded.span) { return .damaged }
    return .format(format)
  }

  var encoded: [UInt8] {
    var bytes = Self.mark
    bytes.append(littleEndian: version)
    bytes += identity
    bytes.append(word: Checksum.of(bytes.span, seed: 4))
    return bytes
  }
}
