import LMDB
import LarderSystem

/// The record that says a file is a Larder store, of which format, and which store.
struct StoreFormat {
  static let mark = Array("larder".utf8) + [0, 0]
  static let current: UInt32 = 1

  var version: UInt32
  /// 16 random bytes; a page cursor of another store is refused by them.
  var identity: [UInt8]

  static func new() -> StoreFormat {
    var generator = SystemRandomNumberGenerator()
    var identity: [UInt8] = []
    identity.append(word: generator.next())
    identity.append(word: generator.next())
    return StoreFormat(version: current, identity: identity)
  }

  init(version: UInt32, identity: [UInt8]) {
    self.version = version
    self.identity = identity
  }

  init?(_ bytes: Span<UInt8>) {
    guard bytes.count >= 28, bytes.starts(with: Self.mark.span) else { return nil }
    version = bytes.halfWord(at: 8)
    identity = bytes.extracting(12..<28).copied
  }

  var encoded: [UInt8] {
    var bytes = Self.mark
    bytes.append(littleEndian: version)
    return bytes + identity
  }
}
