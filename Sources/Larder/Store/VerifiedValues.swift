import LMDB
import LarderSystem

/// The large values that this process has verified since it opened the store.
///
/// A small value is verified at each read, because that is cheaper than a look into this table. A large one is verified at
/// the first read of each version, and again if another value has taken its place in the table.
struct VerifiedValues {
  /// Values of more bytes than this are verified once.
  static let threshold = 4096

  private let marks = AtomicWords(count: 1 << 16)

  func contains(_ mark: UInt64) -> Bool { marks[Int(truncatingIfNeeded: mark & 0xFFFF)] == mark }

  func insert(_ mark: UInt64) { marks[Int(truncatingIfNeeded: mark & 0xFFFF)] = mark }

  /// Identifies one version of a value under one key: the mark changes with every byte of the header, the key or the namespace.
  static func mark(of record: Span<UInt8>, _ header: EntryHeader, keyHash: UInt64) -> UInt64 {
    let bytes = Checksum.of(record.extracting(0..<header.size), seed: keyHash)
    return Checksum.mix(bytes ^ UInt64(record.count), 0xE703_7ED1_A0B4_28DB) | 1
  }
}
