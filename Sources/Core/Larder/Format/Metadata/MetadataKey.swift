import LarderSystem

/// The keys of the store's own records in the main database. A key has the namespace id 0 and a letter for the kind of record.
enum MetadataKey {
  private static func key(_ letter: Unicode.Scalar) -> [UInt8] {
    NamespaceID.store.prefix + [UInt8(ascii: letter)]
  }

  /// The record that marks a Larder store and has the version of its format.
  static let format = key("F")
  // No key here has the letter "D", which the module LMDB uses for its record of the durability.
  static let settings = key("S")
  static let state = key("G")

  static let namespaces = key("N")
  static func namespace(_ name: String) -> [UInt8] { namespaces + Array(name.utf8) }

  static let allCounters = key("C")
  static func counters(_ id: NamespaceID) -> [UInt8] { allCounters + id.prefix }

  /// Passes the key of a namespace's counters to `body`, without an allocation.
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

  /// The namespace id at the end of a key of counters, garbage or repairs; nil for a key of another length.
  static func id(of key: Span<UInt8>) -> NamespaceID? {
    guard key.count == allCounters.count + 4 else { return nil }
    return NamespaceID(rawValue: key.bigEndian(at: allCounters.count))
  }

  /// The ids of cleared namespaces whose entries are not all removed yet.
  static let garbage = key("X")
  static func garbage(_ id: NamespaceID) -> [UInt8] { garbage + id.prefix }

  /// Invalidated tags that some stored entries still have.
  static let tombstones = key("T")

  static let readHistory = key("H")

  /// Namespaces with damage that ``RepairJob`` must repair.
  static let repairs = key("R")
  static func repair(_ id: NamespaceID) -> [UInt8] { repairs + id.prefix }

  /// Removed owners that still have dependents, by entry key.
  static let orphans = key("O")
}
