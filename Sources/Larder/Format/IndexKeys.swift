import LMDB
import LarderSystem

/// The keys of the four index databases.
enum IndexKey {
  /// `deadlines`: within a namespace the time first, so that what is due in it is a range at its front.
  ///
  /// - Parameter entry: the entry's key in the main database, which begins with the same id.
  static func deadline(_ deadline: Int64, entry: [UInt8]) -> [UInt8] {
    [UInt8](count: 8 + entry.count) { bytes in
      bytes.append(contentsOf: entry.span.extracting(first: 4))
      bytes.append(bigEndian: UInt64(bitPattern: deadline))
      bytes.append(contentsOf: entry.span.extracting(droppingFirst: 4))
    }
  }

  /// `queue`: the order in which a namespace's entries first came.
  static func queue(_ sequence: UInt64, in id: NamespaceID) -> [UInt8] {
    [UInt8](count: 12) { bytes in
      bytes.append(bigEndian: id.rawValue)
      bytes.append(bigEndian: sequence)
    }
  }

  /// `tags`: every entry that carries a tag is a range. A tag holds no 0 byte, so the 0 ends it.
  static func tag(_ tag: [UInt8], entry: [UInt8]) -> [UInt8] {
    tag + [0] + entry
  }

  /// `tags`, too: what belongs to an entry is a range. No tag begins with a 0; the owner's place is hashed, and what is
  /// found is compared with the fields of the entry it leads to.
  static func owner(_ owner: [UInt8], entry: [UInt8]) -> [UInt8] {
    var bytes: [UInt8] = [0]
    bytes.reserveCapacity(9 + entry.count)
    bytes.append(bigEndian: Checksum.of(owner.span, seed: 7))
    bytes.append(contentsOf: entry)
    return bytes
  }

  /// The entry that a record of `tags` leads to, and the tag; nil for one that an owner has. Nil if it is no such record.
  static func tagged(_ key: [UInt8]) -> (tag: [UInt8]?, slot: [UInt8])? {
    guard let end = key.firstIndex(of: 0) else { return nil }
    let slot = Array(key.dropFirst(end == 0 ? 9 : end + 1))
    return slot.count > 4 ? (end == 0 ? nil : Array(key[..<end]), slot) : nil
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

  var all: [Database] { [deadlines, queue, tags, chunks] }

  init(_ databases: [Database]) {
    deadlines = databases[0]
    queue = databases[1]
    tags = databases[2]
    chunks = databases[3]
  }
}
