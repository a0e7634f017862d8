import CLarderSystem

extension Span<UInt8> {
  /// The eight bytes at `offset` as a little-endian number.
  ///
  /// - Precondition: all eight lie within the span.
  @inlinable @inline(__always)
  package func word(at offset: Int) -> UInt64 {
    precondition(offset >= 0 && offset &+ 8 <= count)
    return unsafe withUnsafeBytes {
      unsafe UInt64(littleEndian: $0.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }
  }

  /// The four bytes at `offset` as a little-endian number.
  ///
  /// - Precondition: all four lie within the span.
  @inlinable @inline(__always)
  package func halfWord(at offset: Int) -> UInt32 {
    precondition(offset >= 0 && offset &+ 4 <= count)
    return unsafe withUnsafeBytes {
      unsafe UInt32(littleEndian: $0.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
    }
  }

  /// The big-endian number at `offset`, as in keys.
  ///
  /// - Precondition: all of its bytes lie within the span.
  @inlinable
  package func bigEndian<Number: FixedWidthInteger>(
    at offset: Int, as type: Number.Type = Number.self
  ) -> Number {
    var number: Number = 0
    for index in 0..<Number.bitWidth / 8 { number = number << 8 | Number(self[offset + index]) }
    return number
  }

  /// The address of the first byte, for tests that prove that nothing is copied.
  package var address: UInt {
    unsafe withUnsafeBufferPointer { UInt(bitPattern: $0.baseAddress) }
  }

  /// A copy of the bytes.
  package var copied: [UInt8] {
    unsafe withUnsafeBufferPointer { unsafe [UInt8]($0) }
  }

  package func elementsEqual(_ other: Span<UInt8>) -> Bool {
    guard count == other.count else { return false }
    return unsafe withUnsafeBytes { bytes in
      unsafe other.withUnsafeBytes { others in
        guard let start = bytes.baseAddress, let other = others.baseAddress else { return true }
        return unsafe memcmp(start, other, bytes.count) == 0
      }
    }
  }

  package func starts(with prefix: Span<UInt8>) -> Bool {
    count >= prefix.count && extracting(0..<prefix.count).elementsEqual(prefix)
  }
}
