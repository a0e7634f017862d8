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

/// Guards the store's own records: each begins with a checksum over the store's identity, the record's key and its bytes.
///
/// A record that is damaged, that turns up under another key, or that comes from another store is not opened.
struct RecordSeal: Sendable {
  /// Bytes of the checksum in front of every record.
  static let size = 8

  private let salt: UInt64

  /// - Parameter identity: the 16 random bytes of the store.
  init(identity: [UInt8]) { salt = Checksum.of(identity.span, seed: 5) }

  /// The seed of the checksum of a record under `key`.
  func seed(for key: Span<UInt8>) -> UInt64 { Checksum.of(key, seed: salt) }

  /// Writes a record as it is stored under the key of `seed`; `fill` appends its content.
  func write(
    to record: inout OutputSpan<UInt8>, seed: UInt64, _ fill: (inout OutputSpan<UInt8>) -> Void
  ) {
    record.append(word: 0)
    fill(&record)
    let checksum = Checksum.of(record.span.extracting(Self.size..<record.count), seed: seed)
    record.replaceWord(at: 0, with: checksum)
  }

  /// A record as it is stored under `key`.
  func seal(_ content: [UInt8], for key: [UInt8]) -> [UInt8] {
    var record: [UInt8] = []
    record.reserveCapacity(Self.size + content.count)
    record.append(word: Checksum.of(content.span, seed: seed(for: key.span)))
    return record + content
  }

  /// The content of a record; nil if the record is not the one that was stored under the key of `seed`.
  @_lifetime(copy record)
  func open(_ record: Span<UInt8>, seed: UInt64) -> Span<UInt8>? {
    guard record.count >= Self.size else { return nil }
    let content = record.extracting(Self.size..<record.count)
    return record.word(at: 0) == Checksum.of(content, seed: seed) ? content : nil
  }

  @_lifetime(copy record)
  func open(_ record: Span<UInt8>, for key: Span<UInt8>) -> Span<UInt8>? {
    open(record, seed: seed(for: key))
  }

  @_lifetime(copy record)
  func open(_ record: Span<UInt8>, for key: [UInt8]) -> Span<UInt8>? {
    open(record, for: key.span)
  }
}
