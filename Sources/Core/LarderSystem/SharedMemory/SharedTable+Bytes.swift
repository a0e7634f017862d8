import Synchronization

/// Bytes in consecutive 64-bit words; zeros fill the rest of the last word. Each word is copied once and atomically, but other
/// processes may change words during the copy. So the caller needs a checksum to detect a mixture of old and new words.
extension SharedTable.View {
  package static func wideCount(ofBytes count: Int) -> Int { (count + 7) / 8 }

  package func store(_ bytes: Span<UInt8>, wide index: Int) {
    let words = Self.wideCount(ofBytes: bytes.count)
    precondition(isWritable && index >= 0 && index <= count / 2 && words <= count / 2 - index)
    for word in 0..<words {
      unsafe atomic(index &+ word).pointee.store(Self.word(word, of: bytes), ordering: .relaxed)
    }
  }

  package func copy(_ count: Int, wide index: Int, to output: inout OutputSpan<UInt8>) {
    let words = Self.wideCount(ofBytes: count)
    precondition(
      count >= 0 && index >= 0 && index <= self.count / 2 && words <= self.count / 2 - index)
    let whole = count / 8
    for word in 0..<whole { output.append(word: wide(index &+ word)) }
    if whole == words { return }
    var last = wide(index &+ whole)
    for _ in 8 * whole..<count {
      output.append(UInt8(truncatingIfNeeded: last))
      last &>>= 8
    }
  }

  package func holds(_ bytes: Span<UInt8>, wide index: Int) -> Bool {
    let words = Self.wideCount(ofBytes: bytes.count)
    precondition(index >= 0 && index <= count / 2 && words <= count / 2 - index)
    for word in 0..<words where wide(index &+ word) != Self.word(word, of: bytes) { return false }
    return true
  }

  /// Word `index` of `bytes`. Zeros fill the rest of the last word.
  @inline(__always)
  private static func word(_ index: Int, of bytes: Span<UInt8>) -> UInt64 {
    let start = 8 &* index
    if bytes.count &- start >= 8 { return bytes.word(at: start) }
    var word: UInt64 = 0
    for position in start..<bytes.count {
      word |= UInt64(bytes[position]) &<< UInt64(8 &* (position &- start))
    }
    return word
  }
}
