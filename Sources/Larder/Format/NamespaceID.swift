import LarderSystem

/// The number that stands for a namespace in keys; clearing a namespace gives it another.
///
/// Numbers stay below 2^24. So every key of the main database begins with a 0 byte and cannot equal the name of a database,
/// which begins with a letter. 0 is for the metadata.
struct NamespaceID: RawRepresentable, Hashable, Sendable, Comparable {
  let rawValue: UInt32

  static let store = NamespaceID(rawValue: 0)
  static let limit: UInt32 = 1 << 24
  /// The ids that a namespace can have.
  static let possible = NamespaceID(rawValue: 1)..<NamespaceID(rawValue: limit)

  /// The first bytes of every key of the namespace, in the main database and in all indexes but the tags.
  var prefix: [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(id: self)
    return bytes
  }

  /// The next id; nil behind the largest number of 32 bits.
  var next: NamespaceID? {
    rawValue == .max ? nil : NamespaceID(rawValue: rawValue + 1)
  }

  static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

extension [UInt8] {
  mutating func append(id: NamespaceID) {
    append(bigEndian: id.rawValue)
  }
}

extension Span<UInt8> {
  /// The namespace a key of the main database, the queue or the chunks begins with.
  var namespaceID: NamespaceID { NamespaceID(rawValue: bigEndian(at: 0)) }
}
