import LMDB
import LarderSystem

/// A key in the form the databases hold it: any key of up to 64 KiB in at most 255 bytes, in byte order.
///
/// A key of at most 250 bytes is itself and a 0. A longer one is its first 238 bytes, a hash of the whole and a 1, and
/// the entry's header holds it in full. Two long keys can share a stored form; the whole key decides.
struct StoredKey: Hashable, Sendable {
  static let longest = 255
  static let longestShort = 250
  static let headCount = 238

  /// The stored form, without the namespace's id in front.
  let bytes: [UInt8]

  init(bytes: [UInt8]) { self.bytes = bytes }

  init(_ key: Span<UInt8>) {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(min(key.count, Self.longestShort) + 5)
    Self.append(key, to: &bytes)
    self.bytes = bytes
  }

  static func append(_ key: Span<UInt8>, to bytes: inout [UInt8]) {
    if key.count <= longestShort {
      bytes.append(contentsOf: key)
      bytes.append(0)
    } else {
      bytes.append(contentsOf: key.extracting(0..<headCount))
      bytes.append(word: Checksum.of(key, seed: 1))
      bytes.append(word: Checksum.of(key, seed: 2))
      bytes.append(1)
    }
  }

  /// `id`, then the stored form of `key`: where its entry lies in the main database.
  static func entry(_ key: Span<UInt8>, in id: NamespaceID) -> [UInt8] {
    if key.count <= longestShort {
      return [UInt8](count: 4 + key.count + 1) { bytes in
        bytes.append(bigEndian: id.rawValue)
        bytes.append(contentsOf: key)
        bytes.append(0)
      }
    }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(4 + longest)
    bytes.append(id: id)
    append(key, to: &bytes)
    return bytes
  }

  func entry(in id: NamespaceID) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(4 + bytes.count)
    result.append(id: id)
    result.append(contentsOf: bytes)
    return result
  }

  var isLong: Bool { bytes.last == 1 }

  /// The key itself, unless it is a long one.
  var short: [UInt8]? { bytes.last == 0 ? Array(bytes.dropLast()) : nil }

  /// Whether the form is one that ``init(_:)`` can have made.
  static func isWellFormed(_ bytes: Span<UInt8>) -> Bool {
    guard bytes.count >= 2 else { return false }
    return switch bytes[bytes.count - 1] {
    case 0: bytes.count <= longestShort + 1
    case 1: bytes.count == longest
    default: false
    }
  }
}
