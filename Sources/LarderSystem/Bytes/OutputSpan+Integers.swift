/// Integers and bytes of a record that is written in place.
extension OutputSpan<UInt8> {
  /// Appends a little-endian number.
  @inlinable @inline(__always)
  package mutating func append(word: UInt64) {
    precondition(freeCapacity >= 8)
    unsafe withUnsafeMutableBufferPointer { buffer, count in
      unsafe UnsafeMutableRawBufferPointer(buffer).storeBytes(
        of: word.littleEndian, toByteOffset: count, as: UInt64.self)
      count += 8
    }
  }

  /// Appends a big-endian number, as in keys, whose order is that of their bytes.
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

  /// Appends a little-endian number of four bytes.
  @inlinable @inline(__always)
  package mutating func append(halfWord: UInt32) { append(bigEndian: halfWord.byteSwapped) }

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

  /// Overwrites the eight bytes at `offset` with a little-endian number.
  ///
  /// - Precondition: they have been written already.
  @inlinable @inline(__always)
  package mutating func replaceWord(at offset: Int, with word: UInt64) {
    precondition(offset >= 0 && offset &+ 8 <= count)
    unsafe withUnsafeMutableBufferPointer { buffer, _ in
      unsafe UnsafeMutableRawBufferPointer(buffer).storeBytes(
        of: word.littleEndian, toByteOffset: offset, as: UInt64.self)
    }
  }
}

/// Calls `body` with `count` bytes on the stack, which `fill` writes. `count` must be small enough for the stack.
@inlinable @inline(__always)
package func withStackBytes<Success, Failure: Error>(
  _ count: Int, _ fill: (inout OutputSpan<UInt8>) -> Void,
  _ body: (Span<UInt8>) throws(Failure) -> Success
) throws(Failure) -> Success {
  let result = unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: count) {
    (buffer) -> Result<Success, Failure> in
    var output = unsafe OutputSpan(buffer: buffer, initializedCount: 0)
    fill(&output)
    do throws(Failure) {
      return .success(try body(output.span))
    } catch {
      return .failure(error)
    }
  }
  return try result.get()
}
