import LMDB
import LarderSystem

/// The keys of the store's own records: namespace id 0 in the main database, then a letter for the kind.
///
/// LMDB keeps the roots of the other databases there, so every commit writes a page of it.
enum MetadataKey {
  private static func key(_ letter: Character, _ rest: [UInt8] = []) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(id: .store)
    bytes.append(letter.asciiValue!)
    return bytes + rest
  }

  /// The mark of a Larder store, and the version of its format.
  static let format = key("F")
  // The LMDB target uses "D": it needs the durability before the first write.
  /// The limits of the store.
  static let settings = key("S")
  /// ``StoreState``.
  static let state = key("G")

  static let namespaces = key("N")
  static func namespace(_ name: String) -> [UInt8] { namespaces + Array(name.utf8) }

  /// The counters of all namespaces.
  static let allCounters = key("C")
  static func counters(_ id: NamespaceID) -> [UInt8] {
    var bytes = allCounters
    bytes.append(id: id)
    return bytes
  }

  /// Lends the same key, without an allocation.
  @inline(__always)
  static func withCounters<Result, Failure: Error>(
    _ id: NamespaceID, _ body: (Span<UInt8>) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try withStackBytes(
      allCounters.count + 4,
      {
        $0.append(contentsOf: allCounters.span)
        $0.append(bigEndian: id.rawValue)
      }, body)
  }

  /// The namespace id that a key of the counters or of the garbage ends with; nil if the key is no such one.
  static func id(of key: Span<UInt8>) -> NamespaceID? {
    guard key.count == allCounters.count + 4 else { return nil }
    return NamespaceID(rawValue: key.bigEndian(at: allCounters.count))
  }

  /// Ids of cleared namespaces whose entries have not all been reclaimed yet.
  static let garbage = key("X")
  static func garbage(_ id: NamespaceID) -> [UInt8] {
    var bytes = garbage
    bytes.append(id: id)
    return bytes
  }

  /// Invalidated tags whose entries have not all been removed yet.
  static let tombstones = key("T")

  /// ``ReadHistory``.
  static let readHistory = key("H")

  /// Namespaces in which damage was found, and which are to be repaired.
  static let repairs = key("R")
  static func repair(_ id: NamespaceID) -> [UInt8] {
    var bytes = repairs
    bytes.append(id: id)
    return bytes
  }

  /// Removed entries, by entry key, whose dependents have not all been removed yet.
  static let orphans = key("O")
}
