import CLarderSystem

/// Tells whether pieces fill a range of a page side by side: each begins where another, or the range, does, and ends
/// likewise.
///
/// Made once and used for many pages. Offsets are even and at most 32 KiB.
@safe final class Tiling {
  /// A bit for each two bytes: where pieces begin; behind those, where they end.
  private let bits: UnsafeMutablePointer<UInt64>
  private static let capacity = 32_768 / 128 + 1
  private var words = 0

  init() {
    unsafe bits = .allocate(capacity: 2 * Self.capacity)
  }

  deinit { unsafe bits.deallocate() }

  func begin(from start: Int, to end: Int) {
    words = end / 128 + 1
    unsafe bits.update(repeating: 0, count: words)
    unsafe (bits + Self.capacity).update(repeating: 0, count: words)
    // The range's own end is where a piece behind it would begin.
    _ = insert(end, 0)
    _ = insert(start, Self.capacity)
  }

  /// - Returns: false if another piece begins or ends in the same place: then they do not lie side by side.
  /// - Precondition: the piece lies within the range.
  @inline(__always)
  func add(_ start: Int, size: Int) -> Bool {
    let begins = insert(start, 0)
    let ends = insert(start &+ size, Self.capacity)
    return begins && ends
  }

  /// Whether each piece begins where another ends, if ``add(_:size:)`` returned true for all.
  var isWhole: Bool { unsafe memcmp(bits, bits + Self.capacity, 8 * words) == 0 }

  @inline(__always)
  private func insert(_ offset: Int, _ set: Int) -> Bool {
    let word = set &+ offset &>> 7
    let bit = UInt64(1) &<< UInt64(truncatingIfNeeded: offset &>> 1 & 63)
    let former = unsafe bits[word]
    unsafe bits[word] = former | bit
    return former & bit == 0
  }
}
