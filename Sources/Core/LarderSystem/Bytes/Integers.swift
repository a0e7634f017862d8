import CLarderSystem

/// Integers in bytes: little-endian in records, big-endian in keys. LMDB compares bytes, so keys have the order of numbers.
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

  @inlinable package func u32(_ offset: Int) -> UInt32 { span.halfWord(at: offset) }
  @inlinable package func u64(_ offset: Int) -> UInt64 { span.word(at: offset) }

  package mutating func append(contentsOf bytes: Span<UInt8>) {
    unsafe bytes.withUnsafeBufferPointer { unsafe append(contentsOf: $0) }
  }

  /// Makes an array of exactly `count` bytes, which `fill` writes; `count` must be small enough for the stack.
  @inlinable @inline(__always)
  package init(count: Int, _ fill: (inout OutputSpan<UInt8>) -> Void) {
    // `fill` writes to the stack, and the bytes are copied: the optimizer makes this faster than an uninitialized array.
    self = withStackBytes(count, fill) { $0.copied }
    precondition(self.count == count, "an array of another length than was said")
  }
}

extension UInt64 {
  /// The number whose big-endian bytes are `bytes`, at most 8 bytes.
  package init(bigEndianBytes bytes: some Sequence<UInt8>) {
    self = bytes.reduce(0) { $0 << 8 | UInt64($1) }
  }
}

extension Span<UInt8> {
  /// The little-endian number at `offset`. All bytes of the number must lie within the span.
  @inlinable @inline(__always)
  package func littleEndian<Number: FixedWidthInteger & BitwiseCopyable>(at offset: Int) -> Number {
    precondition(offset >= 0 && offset <= count &- MemoryLayout<Number>.size)
    return unsafe withUnsafeBytes {
      unsafe Number(littleEndian: $0.loadUnaligned(fromByteOffset: offset, as: Number.self))
    }
  }

  @inlinable @inline(__always)
  package func word(at offset: Int) -> UInt64 { littleEndian(at: offset) }

  @inlinable @inline(__always)
  package func halfWord(at offset: Int) -> UInt32 { littleEndian(at: offset) }

  @inlinable @inline(__always)
  package func bigEndian<Number: FixedWidthInteger & BitwiseCopyable>(
    at offset: Int, as type: Number.Type = Number.self
  ) -> Number { (littleEndian(at: offset) as Number).byteSwapped }

  /// The address of the first byte. Tests compare addresses to prove that nothing is copied.
  package var address: UInt { unsafe withUnsafeBufferPointer { UInt(bitPattern: $0.baseAddress) } }

  @inlinable package var copied: [UInt8] { unsafe withUnsafeBufferPointer { unsafe [UInt8]($0) } }

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

extension OutputSpan<UInt8> {
  @inlinable @inline(__always)
  package mutating func append<Number: FixedWidthInteger & BitwiseCopyable>(
    littleEndian number: Number
  ) {
    precondition(freeCapacity >= MemoryLayout<Number>.size)
    unsafe withUnsafeMutableBufferPointer { buffer, count in
      unsafe UnsafeMutableRawBufferPointer(buffer).storeBytes(
        of: number.littleEndian, toByteOffset: count, as: Number.self)
      count += MemoryLayout<Number>.size
    }
  }

  @inlinable @inline(__always)
  package mutating func append(word: UInt64) { append(littleEndian: word) }

  @inlinable @inline(__always)
  package mutating func append<Number: FixedWidthInteger & BitwiseCopyable>(
    bigEndian number: Number
  ) { append(littleEndian: number.byteSwapped) }

  @inlinable @inline(__always)
  package mutating func append(contentsOf bytes: Span<UInt8>) {
    precondition(freeCapacity >= bytes.count)
    unsafe withUnsafeMutableBufferPointer { buffer, count in
      unsafe bytes.withUnsafeBytes { bytes in
        let room = unsafe UnsafeMutableRawBufferPointer(buffer)[count...]
        unsafe UnsafeMutableRawBufferPointer(rebasing: room).copyMemory(from: bytes)
      }
      count += bytes.count
    }
  }

  /// Overwrites eight bytes, which were appended before, with `word` in little-endian order.
  @inlinable @inline(__always)
  package mutating func replaceWord(at offset: Int, with word: UInt64) {
    precondition(offset >= 0 && offset <= count &- 8)
    unsafe withUnsafeMutableBufferPointer { buffer, _ in
      unsafe UnsafeMutableRawBufferPointer(buffer).storeBytes(
        of: word.littleEndian, toByteOffset: offset, as: UInt64.self)
    }
  }
}

/// Calls `body` with `count` bytes of stack memory, after `fill` has written them. `count` must be small enough for the stack.
@inlinable @inline(__always)
package func withStackBytes<Success, Failure: Error>(
  _ count: Int, _ fill: (inout OutputSpan<UInt8>) -> Void,
  _ body: (Span<UInt8>) throws(Failure) -> Success
) throws(Failure) -> Success {
  let result = unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: count) {
    (buffer) -> Result<Success, Failure> in
    var output = unsafe OutputSpan(buffer: buffer, initializedCount: 0)
    fill(&output)
    do throws(Failure) { return .success(try body(output.span)) } catch { return .failure(error) }
  }
  return try result.get()
}
