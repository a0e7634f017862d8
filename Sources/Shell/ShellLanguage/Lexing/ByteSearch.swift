/// The number of bytes that are compared between two calls of `pause`. So many comparisons take less than a millisecond.
private let piece = 1 << 18

extension Span<UInt8> {
  /// The first range with `wanted`, which is in lower case with `ignoringCase`. `pause` runs often, and its error ends the search.
  package func firstRange(
    of wanted: [UInt8], ignoringCase: Bool = false, pause: () throws -> Void
  ) rethrows -> Range<Int>? {
    guard let first = wanted.first else { return 0..<0 }
    guard count >= wanted.count else { return nil }
    let starts = Swift.max(piece / wanted.count, 1)
    var rest = starts
    for start in 0...(count - wanted.count) {
      if start == rest {
        rest += starts
        try pause()
      }
      guard (ignoringCase ? self[start].lowercased : self[start]) == first else { continue }
      var length = 1
      while length < wanted.count,
        wanted[length] == (ignoringCase ? self[start + length].lowercased : self[start + length])
      { length += 1 }
      if length == wanted.count { return start..<start + length }
    }
    return nil
  }
}

extension ArraySlice<UInt8> {
  package func firstRange(
    of wanted: [UInt8], ignoringCase: Bool = false, pause: () throws -> Void
  ) rethrows -> Range<Int>? {
    try span.firstRange(of: wanted, ignoringCase: ignoringCase, pause: pause)
      .map { startIndex + $0.lowerBound..<startIndex + $0.upperBound }
  }
}

extension UInt8 {
  package var lowercased: UInt8 {
    (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) ? self | 0x20 : self
  }
}
