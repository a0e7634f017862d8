import LarderSystem

/// The large values that this process has verified.
///
/// A small value is verified at each read, because that is cheaper than a look into this table. A large one is verified at the
/// first read of each version in a second of the store's clock. A value that has lost its place in the table to another value
/// is verified again. So a value whose bytes change in the file is returned for a second at most. A value of more than 1 MiB,
/// or in chunks and read in pieces, is verified once.
struct VerifiedValues {
  /// Values of more bytes than this are not verified at each read.
  static let threshold = 4096
  /// Values of more bytes than this are verified once.
  private static let largestRepeated = 1 << 20
  /// Milliseconds.
  static let validity: Int64 = 1_000

  private let marks = AtomicWords(count: 1 << 16)

  func contains(_ mark: UInt64) -> Bool { marks[Int(truncatingIfNeeded: mark & 0xFFFF)] == mark }

  func insert(_ mark: UInt64) { marks[Int(truncatingIfNeeded: mark & 0xFFFF)] = mark }

  /// The mark of a value that is verified again in the next second.
  static func limited(_ mark: UInt64, ofSize size: Int, at now: Int64) -> UInt64 {
    size > largestRepeated ? mark : mark ^ UInt64(bitPattern: now / validity) &<< 16
  }

  /// Identifies one version of a value under one key: the mark changes with every byte of the header, the key or the namespace.
  static func mark(of record: Span<UInt8>, _ header: EntryHeader, keyHash: UInt64) -> UInt64 {
    let bytes = Checksum.of(record.extracting(0..<header.size), seed: keyHash)
    return Checksum.mix(bytes ^ UInt64(record.count), 0xE703_7ED1_A0B4_28DB) | 1
  }
}
