import LMDB

/// Which large values this process has verified since it opened the store.
///
/// A small value is verified at each read, which costs less than finding out whether it was before. A large one is
/// verified at the first read of each version. The table forgets when two share a place; then one is verified again.
struct VerifiedValues {
  /// Values of more bytes than this are verified once.
  static let threshold = 4096

  private let marks = AtomicWords(count: 1 << 16)

  private func mark(_ id: NamespaceID, _ version: UInt64) -> (place: Int, mark: UInt64) {
    let mixed = Checksum.mix(
      version ^ 0x9E37_79B9_7F4A_7C15, UInt64(id.rawValue) ^ 0xE703_7ED1_A0B4_28DB)
    return (Int(truncatingIfNeeded: mixed & 0xFFFF), mixed | 1)
  }

  func contains(_ id: NamespaceID, _ version: UInt64) -> Bool {
    let (place, mark) = mark(id, version)
    return marks[place] == mark
  }

  func insert(_ id: NamespaceID, _ version: UInt64) {
    let (place, mark) = mark(id, version)
    marks[place] = mark
  }
}
