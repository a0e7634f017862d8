import Larder
import LarderSystem

/// The names of an application's keys in the server.
package struct TierNames: Sendable {
  /// `shop:{shop}:`. A cluster keeps all keys with the same text in braces in one slot, as the scripts of an application need.
  private let prefix: String

  /// Throws `LarderError/Code/invalidArgument` for a name that could run into another name.
  init(application: String) throws(LarderError) {
    let isPossible =
      (1...100).contains(application.utf8.count)
      && application.utf8.allSatisfy { byte in
        (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte)
          || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_") || byte == UInt8(ascii: ".")
      }
    guard isPossible else {
      throw LarderError(
        .invalidArgument, "\"\(application)\" cannot name an application",
        hint: "use 1 to 100 letters, digits, hyphens, underscores and dots")
    }
    prefix = application + ":{" + application + "}:"
  }

  /// Whether a word of a command is a key: its first colon is followed by the text in braces that chooses the slot.
  package static func isKey(_ word: [UInt8]) -> Bool {
    word.drop { $0 != UInt8(ascii: ":") }.dropFirst().first == UInt8(ascii: "{")
  }

  var log: [UInt8] { Array((prefix + "log").utf8) }
  var head: [UInt8] { Array((prefix + "head").utf8) }
  /// When the last value was stored.
  var time: [UInt8] { Array((prefix + "time").utf8) }
  /// A key that is never there.
  var nothing: [UInt8] { Array((prefix + "nothing").utf8) }
  func value(_ key: SharedKey) -> [UInt8] { Array((prefix + "v:").utf8) + Self.name(of: key) }
  func lease(_ key: SharedKey) -> [UInt8] { Array((prefix + "l:").utf8) + Self.name(of: key) }
  func floor(namespace: String) -> [UInt8] { Array((prefix + "c:" + namespace).utf8) }
  func floor(tag: String) -> [UInt8] { Array((prefix + "t:" + tag).utf8) }

  /// Namespace and key as one name. The length keeps `a` and `b:c` apart from `a:b` and `c`.
  static func name(of key: SharedKey) -> [UInt8] {
    var name = prefix(of: key.namespace)
    append(key.bytes, to: &name)
    return name
  }

  /// The first bytes of the name of each key of a namespace.
  static func prefix(of namespace: String) -> [UInt8] {
    Array("\(namespace.utf8.count):\(namespace):".utf8)
  }

  /// Whether a hash stands for the key. The frame then has the whole key, so that two keys with one hash are a miss and
  /// never each other's value.
  static func isLong(_ key: [UInt8]) -> Bool { key.count > 1024 }

  /// Adds a key to the name of its namespace.
  static func append(_ key: [UInt8], to name: inout [UInt8]) {
    if isLong(key) {
      // No short key has the byte 0xFF and 16 bytes after it by chance alone; if one has, see above.
      name.append(0xFF)
      name.append(bigEndian: Checksum.of(key, seed: 1))
      name.append(bigEndian: Checksum.of(key, seed: 2))
    } else {
      name += key
    }
  }
}
