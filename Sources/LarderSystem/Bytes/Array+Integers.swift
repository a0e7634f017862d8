/// Integers in arrays of bytes: little-endian in records, big-endian in keys, whose order is that of their bytes.
extension [UInt8] {
  @inlinable
  package mutating func append<Number: FixedWidthInteger>(littleEndian number: Number) {
    unsafe Swift.withUnsafeBytes(of: number.littleEndian) { unsafe append(contentsOf: $0) }
  }

  @inlinable
  package mutating func append<Number: FixedWidthInteger>(bigEndian number: Number) {
    append(littleEndian: number.byteSwapped)
  }

  @inlinable
  package mutating func append(word: UInt64) { append(littleEndian: word) }

  @inlinable
  package init<Number: FixedWidthInteger>(littleEndian number: Number) {
    self = []
    append(littleEndian: number)
  }

  @inlinable package func u16(_ offset: Int) -> UInt16 { littleEndian(at: offset) }
  @inlinable package func u32(_ offset: Int) -> UInt32 { littleEndian(at: offset) }
  @inlinable package func u64(_ offset: Int) -> UInt64 { littleEndian(at: offset) }

  /// - Precondition: all bytes of the number lie within the array.
  @inlinable
  package func littleEndian<Number: FixedWidthInteger & UnsignedInteger>(at offset: Int) -> Number {
    var number: Number = 0
    for index in (0..<Number.bitWidth / 8).reversed() {
      number = number << 8 | Number(self[offset + index])
    }
    return number
  }
}

extension [UInt8] {
  package mutating func append(contentsOf bytes: Span<UInt8>) {
    unsafe bytes.withUnsafeBufferPointer { unsafe append(contentsOf: $0) }
  }

  /// Makes an array of exactly `count` bytes, written by `fill`; `count` must be small enough for the stack.
  @inlinable @inline(__always)
  package init(count: Int, _ fill: (inout OutputSpan<UInt8>) -> Void) {
    // The optimizer specializes a copy of initialized bytes better than an array made without initializing it.
    self = unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: count) { buffer in
      var output = unsafe OutputSpan(buffer: buffer, initializedCount: 0)
      fill(&output)
      let filled = unsafe output.finalize(for: buffer)
      return unsafe [UInt8](UnsafeBufferPointer(rebasing: buffer[..<filled]))
    }
    precondition(self.count == count, "an array of another length than was said")
  }
}
