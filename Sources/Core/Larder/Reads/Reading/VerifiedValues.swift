import LarderSystem

/// The large values that this process has verified. A small value is verified at each read, because the check takes less time
/// than a search in this table. A large value is verified at its first read in each second of the store's clock. So a value
/// whose bytes change in the file is returned for at most a second. But a value of more than 1 MiB, or a value in chunks that
/// is read in pieces, is verified again only if the value has lost its place in the table.
struct VerifiedValues {
  /// The size in bytes of the largest value that is verified at each read.
  static let threshold = 4096
  /// The size in bytes of the largest value that is verified more than once.
  private static let largestRepeated = 1 << 20
  /// The time in milliseconds for which a verification is valid.
  static let validity: Int64 = 1_000

  private let marks = AtomicWords(count: 1 << 16)

  func contains(_ mark: UInt64) -> Bool { marks[Int(truncatingIfNeeded: mark & 0xFFFF)] == mark }
  func insert(_ mark: UInt64) { marks[Int(truncatingIfNeeded: mark & 0xFFFF)] = mark }

  /// A mark for one second of the clock, so the value is verified again in the next second. A very large value keeps its mark.
  static func limited(_ mark: UInt64, ofSize size: Int, at now: Int64) -> UInt64 {
    size > largestRepeated ? mark : mark ^ UInt64(bitPattern: now / validity) &<< 16
  }

  /// Identifies a version of a value under its key. Another byte in the header, the key or the namespace gives another mark.
  static func mark(of record: Span<UInt8>, _ header: EntryHeader, keyHash: UInt64) -> UInt64 {
    let bytes = Checksum.of(record.extracting(0..<header.size), seed: keyHash)
    return Checksum.mix(bytes ^ UInt64(record.count), 0xE703_7ED1_A0B4_28DB) | 1
  }
}
