import LMDB
import LarderSystem

/// An entry to which another entry belongs. The dependent entry is removed with its last owner.
///
/// An entry may have several owners, in any namespace. The reason of the last owner's removal does not matter: removed,
/// expired, evicted. One transaction removes up to 1,000 entries; the rest follows at once in further transactions.
/// Clearing the namespace of an owner does not remove its entries one by one: their dependent entries are removed when
/// the cleared entries are reclaimed.
public struct Owner: Hashable, Sendable {
  /// The name of the owner's namespace.
  public var namespace: String
  /// The owner's key there.
  public var key: Key

  /// The entry under `key` of a namespace; neither has to exist yet.
  public init(_ key: Key, in namespace: String) {
    self.namespace = namespace
    self.key = key
  }
}

/// An owner as the fields of an entry store it: by the id of its namespace, which a rename does not change.
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

  /// The owner's key in the main database.
  var entryKey: [UInt8] { StoredKey.entry(key.span, in: id) }
}
