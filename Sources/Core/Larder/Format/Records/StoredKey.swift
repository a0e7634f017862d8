import LarderSystem

/// The number of a namespace in keys: 0 for the metadata, otherwise 1 to 2^24 - 1. A clear gives the namespace another number.
/// The main database has the metadata and the databases' names: only the keys of the metadata begin with a byte 0.
struct NamespaceID: RawRepresentable, Hashable, Sendable, Comparable {
  let rawValue: UInt32

  static let store = NamespaceID(rawValue: 0)
  static let limit: UInt32 = 1 << 24
  static let possible = NamespaceID(rawValue: 1)..<NamespaceID(rawValue: limit)

  /// The first bytes of every key of the namespace, in the database of entries and in all indexes except the tag index.
  var prefix: [UInt8] { [UInt8](count: 4) { $0.append(bigEndian: rawValue) } }

  /// The next id; nil after the largest 32-bit number. May be above ``limit``, because a damaged key may have any id.
  var next: NamespaceID? { rawValue == .max ? nil : NamespaceID(rawValue: rawValue + 1) }

  static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

extension Span<UInt8> {
  /// The namespace id at the start of a key of the entries, the expiry index, the queue or the chunks.
  var namespaceID: NamespaceID { NamespaceID(rawValue: bigEndian(at: 0)) }
}

/// The form of a key in the databases: at most 255 bytes, which sort as ``StoreKey`` promises.
///
/// A key of at most 250 bytes is stored with a byte 0 after it. A longer key is stored as its first 238 bytes, a hash of the
/// whole key, and a byte 1. A field of the entry then has the whole key, to tell keys with equal stored forms apart.
struct StoredKey: Hashable, Sendable {
  /// The number of bytes of a long key's stored form. No stored form is longer.
  static let longest = 255
  /// The number of bytes of the longest key that is stored as a whole.
  static let longestShort = 250
  /// How many of a long key's first bytes are in its stored form.
  static let headCount = 238

  /// The stored form, without the namespace id before it.
  let bytes: [UInt8]

  /// The entry key, which is the key in the database of entries: `id`, then the stored form of `key`.
  static func entry(_ key: Span<UInt8>, in id: NamespaceID) -> [UInt8] {
    [UInt8](count: 4 + (key.count <= longestShort ? key.count + 1 : longest)) { bytes in
      bytes.append(bigEndian: id.rawValue)
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
  }

  var short: [UInt8]? { bytes.last == 0 ? Array(bytes.dropLast()) : nil }

  /// Whether a key can have these bytes as its stored form.
  var isWellFormed: Bool {
    switch bytes.last {
    case 0?: (2...Self.longestShort + 1).contains(bytes.count)
    case 1?: bytes.count == Self.longest
    default: false
    }
  }
}
