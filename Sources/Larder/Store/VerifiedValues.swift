import LMDB
import LarderSystem

/// Which large values this process has verified since it opened the store.
///
/// A small value is verified at each read, which costs less than finding out whether it was before. A large one is
/// verified at the first read of each version. The table forgets when two share a place; then one is verified again.
struct VerifiedValues {
  /// Values of more bytes than this are verified once.
  static let threshold = 4096

  private let marks = AtomicWords(count: 1 << 16)

  func contains(_ mark: UInt64) -> Bool { marks[Int(truncatingIfNeeded: mark & 0xFFFF)] == mark }

  func insert(_ mark: UInt64) { marks[Int(truncatingIfNeeded: mark & 0xFFFF)] = mark }
}

extension EntryHeader {
  /// Names this version of a value under this key: whatever of the header, the key or the place changes, the mark does.
  func verifiedMark(place: UInt64, count: Int) -> UInt64 {
    let header = expectedChecksum(place: place, body: Span())
    return Checksum.mix(header ^ UInt64(count), checksum ^ 0xE703_7ED1_A0B4_28DB) | 1
  }
}
