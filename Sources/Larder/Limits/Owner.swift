import LMDB
import LarderSystem

/// The entry another one belongs to, and leaves with.
///
/// An entry may have several owners, in any namespace; it leaves in the same transaction as the last of them, whatever
/// the reason was: removed, expired, evicted. Only clearing an owner's namespace is no removal of each: what belonged to
/// its entries leaves while they are reclaimed.
public struct Owner: Hashable, Sendable {
  public var namespace: String
  public var key: Key

  public init(_ key: Key, in namespace: String) {
    self.namespace = namespace
    self.key = key
  }
}

/// An owner as an entry's fields hold it: the namespace's id, which a new name does not change, and the key.
struct StoredOwner: Equatable {
  var id: NamespaceID
  var key: [UInt8]

  init(id: NamespaceID, key: [UInt8]) {
    self.id = id
    self.key = key
  }

  init?(_ field: [UInt8]) {
    guard field.count > 4 else { return nil }
    id = field.span.namespaceID
    key = Array(field.dropFirst(4))
  }

  var field: [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(id: id)
    return bytes + key
  }

  /// The owner's place in the main database.
  var slot: [UInt8] { StoredKey.entry(key.span, in: id) }
}

extension StoredEntry {
  var owners: [StoredOwner] { fields.all(.owner).compactMap(StoredOwner.init) }
}
