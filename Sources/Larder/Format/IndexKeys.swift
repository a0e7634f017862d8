import LMDB

/// The keys of the four index databases.
enum IndexKey {
  /// `deadlines`: within a namespace the time first, so that what is due in it is a range at its front.
  ///
  /// - Parameter entry: the entry's key in the main database, which begins with the same id.
  static func deadline(_ deadline: Int64, entry: [UInt8]) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(8 + entry.count)
    bytes.append(contentsOf: entry[..<4])
    bytes.append(bigEndian: UInt64(bitPattern: deadline))
    bytes.append(contentsOf: entry[4...])
    return bytes
  }

  /// `queue`: the order in which a namespace's entries first came.
  static func queue(_ sequence: UInt64, in id: NamespaceID) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(12)
    bytes.append(id: id)
    bytes.append(bigEndian: sequence)
    return bytes
  }

  /// `tags`: every entry that carries a tag is a range. A tag holds no 0 byte, so the 0 ends it.
  static func tag(_ tag: [UInt8], entry: [UInt8]) -> [UInt8] {
    tag + [0] + entry
  }

  /// `chunks`: the pieces of one version of a value, in order.
  static func chunk(_ index: UInt32, of version: UInt64, in id: NamespaceID) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(16)
    bytes.append(id: id)
    bytes.append(bigEndian: version)
    bytes.append(bigEndian: index)
    return bytes
  }

  static let longestTag = 200
}

/// The databases beside the main one, opened once with the store.
struct Indexes: Sendable {
  static let names = ["deadlines", "queue", "tags", "chunks"]

  let deadlines: Database
  let queue: Database
  let tags: Database
  let chunks: Database

  init(_ databases: [Database]) {
    deadlines = databases[0]
    queue = databases[1]
    tags = databases[2]
    chunks = databases[3]
  }
}
