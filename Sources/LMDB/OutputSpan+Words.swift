/// Records that are written in place.
extension OutputSpan<UInt8> {
  /// Appends a number, little-endian.
  @inlinable @inline(__always)
  package mutating func append(word: UInt64) {
    precondition(freeCapacity >= 8)
    unsafe withUnsafeMutableBufferPointer { buffer, count in
      unsafe UnsafeMutableRawBufferPointer(buffer).storeBytes(
        of: word.littleEndian, toByteOffset: count, as: UInt64.self)
      count += 8
    }
  }

  /// Appends a number as it stands in a key, whose order is that of its bytes.
  @inlinable @inline(__always)
  package mutating func append(bigEndian number: UInt64) { append(word: number.byteSwapped) }

  @inlinable @inline(__always)
  package mutating func append(bigEndian number: UInt32) {
    precondition(freeCapacity >= 4)
    unsafe withUnsafeMutableBufferPointer { buffer, count in
      unsafe UnsafeMutableRawBufferPointer(buffer).storeBytes(
        of: number.bigEndian, toByteOffset: count, as: UInt32.self)
      count += 4
    }
  }

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

  /// Writes a number over eight bytes that are there already.
  @inlinable @inline(__always)
  package mutating func replaceWord(at offset: Int, with word: UInt64) {
    precondition(offset >= 0 && offset &+ 8 <= count)
    unsafe withUnsafeMutableBufferPointer { buffer, _ in
      unsafe UnsafeMutableRawBufferPointer(buffer).storeBytes(
        of: word.littleEndian, toByteOffset: offset, as: UInt64.self)
    }
  }
}

extension [UInt8] {
  /// An array of exactly `count` bytes, which `fill` writes.
  @inlinable @inline(__always)
  package init(count: Int, _ fill: (inout OutputSpan<UInt8>) -> Void) {
    unsafe self.init(unsafeUninitializedCapacity: count) { buffer, filled in
      var output = unsafe OutputSpan(buffer: buffer, initializedCount: 0)
      fill(&output)
      filled = unsafe output.finalize(for: buffer)
    }
    precondition(self.count == count, "an array of another length than was said")
  }
}
