import Larder
import LarderSystem

/// The names of an application's keys in the server.
package struct TierNames: Sendable {
  /// The prefix `shop:{shop}:`. A cluster keeps keys with equal text in braces in one slot, as scripts require.
  private let prefix: String

  /// Throws `LarderError/Code/invalidArgument` if the name is not 1 to 100 letters, digits, hyphens, underscores and dots.
  init(application: String) throws(LarderError) {
    let isPossible =
      (1...100).contains(application.utf8.count)
      && application.utf8.allSatisfy { $0.isDigit || $0.isLetter || "-_.".utf8.contains($0) }
    guard isPossible else {
      throw LarderError(
        .invalidArgument, "\"\(application)\" cannot name an application",
        hint: "use 1 to 100 letters, digits, hyphens, underscores and dots")
    }
    prefix = application + ":{" + application + "}:"
  }

  /// Whether a word of a command is a key. After the first colon a key has text in braces, which chooses the slot.
  package static func isKey(_ word: [UInt8]) -> Bool {
    word.drop { $0 != UInt8(ascii: ":") }.dropFirst().first == UInt8(ascii: "{")
  }

  var log: [UInt8] { Array((prefix + "log").utf8) }
  var head: [UInt8] { Array((prefix + "head").utf8) }
  /// The key of the time at which the last value was stored.
  var time: [UInt8] { Array((prefix + "time").utf8) }
  /// A key that never exists; see ``Script/look``.
  var nothing: [UInt8] { Array((prefix + "nothing").utf8) }
  func value(_ key: SharedKey) -> [UInt8] { Array((prefix + "v:").utf8) + Self.name(of: key) }
  func lease(_ key: SharedKey) -> [UInt8] { Array((prefix + "l:").utf8) + Self.name(of: key) }
  func floor(namespace: String) -> [UInt8] { Array((prefix + "c:" + namespace).utf8) }
  func floor(tag: String) -> [UInt8] { Array((prefix + "t:" + tag).utf8) }

  /// Namespace and key as one name. The length of the namespace makes `a` and `b:c` different from `a:b` and `c`.
  private static func name(of key: SharedKey) -> [UInt8] {
    var name = Array("\(key.namespace.utf8.count):\(key.namespace):".utf8)
    if isLong(key.bytes) {
      // In the very rare case that a short key equals 0xFF and the 16 bytes of a hash, the frame distinguishes the two keys.
      name.append(0xFF)
      name.append(bigEndian: Checksum.of(key.bytes, seed: 1))
      name.append(bigEndian: Checksum.of(key.bytes, seed: 2))
    } else {
      name += key.bytes
    }
    return name
  }

  /// Whether the name has a hash instead of the key. The frame then has the key, so keys with equal hashes share no value.
  static func isLong(_ key: [UInt8]) -> Bool { key.count > 1024 }
}
