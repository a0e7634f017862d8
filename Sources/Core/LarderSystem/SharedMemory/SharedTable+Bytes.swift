import Synchronization

/// Bytes in consecutive 64-bit words; zeros fill the rest of the last word. Each word is copied once and atomically, but other
/// processes may change words during the copy. So the caller needs a checksum to detect a mixture of old and new words.
extension SharedTable.View {
  package static func wideCount(ofBytes count: Int) -> Int { (count + 7) / 8 }

  package func store(_ bytes: Span<UInt8>, wide index: Int) {
    let words = Self.wideCount(ofBytes: bytes.count)
    precondition(isWritable && index >= 0 && index <= count / 2 && words <= count / 2 - index)
    let whole = bytes.count / 8
    if whole > 0 {
      let first = unsafe atomic(index)
      unsafe bytes.withUnsafeBytes { bytes in
        for word in 0..<whole {
          let value = unsafe bytes.baseAddress!.loadUnaligned(
            fromByteOffset: 8 &* word, as: UInt64.self)
          unsafe (first + word).pointee.store(UInt64(littleEndian: value), ordering: .relaxed)
        }
      }
    }
    if whole == words { return }
    var last: UInt64 = 0
    for position in 8 * whole..<bytes.count {
      last |= UInt64(bytes[position]) &<< UInt64(8 &* (position &- 8 &* whole))
    }
    unsafe atomic(index &+ whole).pointee.store(last, ordering: .relaxed)
  }

  package func copy(_ count: Int, wide index: Int, to output: inout OutputSpan<UInt8>) {
    let words = Self.wideCount(ofBytes: count)
    precondition(
      count >= 0 && index >= 0 && index <= self.count / 2 && words <= self.count / 2 - index
        && count <= output.freeCapacity)
    let whole = count / 8
    if whole > 0 {
      let first = unsafe atomic(index)
      unsafe output.withUnsafeMutableBufferPointer { buffer, filled in
        let start = unsafe UnsafeMutableRawPointer(buffer.baseAddress! + filled)
        for word in 0..<whole {
          let value = unsafe (first + word).pointee.load(ordering: .relaxed)
          unsafe start.storeBytes(of: value.littleEndian, toByteOffset: 8 &* word, as: UInt64.self)
        }
        filled += 8 * whole
      }
    }
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
    let whole = bytes.count / 8
    for word in 0..<whole where wide(index &+ word) != bytes.word(at: 8 &* word) { return false }
    if whole == words { return true }
    var last = wide(index &+ whole)
    for position in 8 * whole..<bytes.count {
      if UInt8(truncatingIfNeeded: last) != bytes[position] { return false }
      last &>>= 8
    }
    return true
  }
}
