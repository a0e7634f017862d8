import LarderSystem

/// The number a namespace's entries are stored under; a cleared namespace gets another.
///
/// Numbers stay below 2^24. Every key in the main database then begins with a 0 byte, and none can equal the name of a
/// database, which begins with a letter. 0 is the store's own: its catalogue.
struct NamespaceID: RawRepresentable, Hashable, Sendable, Comparable {
  let rawValue: UInt32

  static let store = NamespaceID(rawValue: 0)
  static let limit: UInt32 = 1 << 24
  /// The ids a namespace can have.
  static let possible = NamespaceID(rawValue: 1)..<NamespaceID(rawValue: limit)

  /// What every key of the namespace begins with, in the main database and in all indexes but the tags.
  var prefix: [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(id: self)
    return bytes
  }

  /// Nil behind the last that 32 bits can say.
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
