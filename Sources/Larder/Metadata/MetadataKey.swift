import LarderSystem

/// The keys of the store's own records: namespace id 0 in the main database, then a letter for the kind.
///
/// They live beside the entries because a write that changes no index then touches no other database.
enum MetadataKey {
  private static func key(_ letter: Character, _ rest: [UInt8] = []) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(id: .store)
    bytes.append(letter.asciiValue!)
    return bytes + rest
  }

  /// What makes a file ours, and which format it has.
  static let format = key("F")
  // "D" is the layer below's: the durability, which it must know before the first write.
  /// Settings that hold for every process: limits.
  static let settings = key("S")
  /// The generation, the totals, the newest stamp.
  static let state = key("G")

  static let namespaces = key("N")
  static func namespace(_ name: String) -> [UInt8] { namespaces + Array(name.utf8) }

  static func counters(_ id: NamespaceID) -> [UInt8] {
    var bytes = key("C")
    bytes.append(id: id)
    return bytes
  }

  /// Ids whose entries were cleared and wait to be reclaimed.
  static let garbage = key("X")
  static func garbage(_ id: NamespaceID) -> [UInt8] {
    var bytes = garbage
    bytes.append(id: id)
    return bytes
  }

  /// Invalidated tags whose entries have not all been removed yet.
  static let tombstones = key("T")
}
