/// Tells whether pieces fill a range of a page side by side: each begins where another, or the range, does, and ends
/// likewise.
///
/// Made once and used for many pages. Offsets are even and at most 32 KiB.
@safe final class Tiling {
  /// A bit for each two bytes: where pieces begin; behind those, where they end.
  private let bits: UnsafeMutablePointer<UInt64>
  private static let capacity = 32_768 / 128 + 1
  private var words = 0
  private var isDistinct = true

  init() {
    unsafe bits = .allocate(capacity: 2 * Self.capacity)
  }

  deinit { unsafe bits.deallocate() }

  func begin(from start: Int, to end: Int) {
    words = end / 128 + 1
    unsafe bits.update(repeating: 0, count: words)
    unsafe (bits + Self.capacity).update(repeating: 0, count: words)
    isDistinct = true
    // The range's own end is where a piece behind it would begin.
    insert(end, 0)
    insert(start, Self.capacity)
  }

  /// - Precondition: the piece lies within the range.
  @inline(__always)
  func add(_ start: Int, size: Int) {
    insert(start, 0)
    insert(start &+ size, Self.capacity)
  }

  var isWhole: Bool {
    guard isDistinct else { return false }
    for word in 0..<words where unsafe bits[word] != bits[Self.capacity + word] { return false }
    return true
  }

  @inline(__always)
  private func insert(_ offset: Int, _ set: Int) {
    let word = set &+ offset &>> 7
    let bit = UInt64(1) &<< UInt64(truncatingIfNeeded: offset &>> 1 & 63)
    if unsafe bits[word] & bit != 0 { isDistinct = false }
    unsafe bits[word] |= bit
  }
}
