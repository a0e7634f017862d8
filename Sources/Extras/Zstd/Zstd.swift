#if Compression
  import CZstd
  import Synchronization

  // Zstandard (RFC 8878) through the system's library. Only this file imports the C functions of the library.

  /// An error of the library, with the library's message.
  package struct Failure: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
  }

  // A context holds tables of about a megabyte or more, so a few contexts are kept for reuse.
  private let mostContexts = 8
  private let compressors = Mutex<[Compressor]>([])
  private let decompressors = Mutex<[Decompressor]>([])

  /// The bytes as one frame, which also holds the number of bytes.
  package func compress(
    _ bytes: Span<UInt8>, level: Int, with dictionary: Dictionary? = nil
  ) throws -> [UInt8] {
    let context = compressors.withLock { $0.popLast() } ?? Compressor()
    defer { compressors.withLock { if $0.count < mostContexts { $0.append(context) } } }
    return try unsafe filled(ZSTD_compressBound(bytes.count)) { target, capacity in
      unsafe bytes.withUnsafeBufferPointer { source in
        if let dictionary {
          unsafe ZSTD_compress_usingCDict(
            context.pointer, target, capacity, source.baseAddress, source.count,
            dictionary.compressing)
        } else {
          unsafe ZSTD_compressCCtx(
            context.pointer, target, capacity, source.baseAddress, source.count, Int32(level))
        }
      }
    }
  }

  /// The content of a frame. Before it allocates memory, throws if the bytes are not one frame that states this size.
  package func decompress(
    _ bytes: Span<UInt8>, size: Int, with dictionary: Dictionary? = nil
  ) throws -> [UInt8] {
    let (declared, length) = unsafe bytes.withUnsafeBufferPointer { source in
      unsafe (
        ZSTD_getFrameContentSize(source.baseAddress, source.count),
        ZSTD_findFrameCompressedSize(source.baseAddress, source.count)
      )
    }
    // The library reports errors and unknown sizes as numbers larger than every possible size, so these numbers fail the check.
    guard declared == UInt64(size), length == bytes.count else {
      throw Failure("it is not a frame of \(size) bytes")
    }
    let context = decompressors.withLock { $0.popLast() } ?? Decompressor()
    defer { decompressors.withLock { if $0.count < mostContexts { $0.append(context) } } }
    let found = try unsafe filled(size) { target, capacity in
      unsafe bytes.withUnsafeBufferPointer { source in
        unsafe ZSTD_decompress_usingDDict(
          context.pointer, target, capacity, source.baseAddress, source.count,
          dictionary?.decompressing)
      }
    }
    guard found.count == size else {
      throw Failure("it has \(found.count) bytes in place of \(size)")
    }
    return found
  }

  /// A dictionary of at most `size` bytes for values that resemble the samples. Throws for too few samples.
  package func train(_ samples: [[UInt8]], size: Int) throws -> [UInt8] {
    let joined = Array(samples.joined())
    let sizes = samples.map(\.count)
    return try unsafe filled(size) { target, capacity in
      unsafe joined.withUnsafeBufferPointer { joined in
        unsafe sizes.withUnsafeBufferPointer { sizes in
          unsafe ZDICT_trainFromBuffer(
            target, capacity, joined.baseAddress, sizes.baseAddress, UInt32(sizes.count))
        }
      }
    }
  }

  /// An array of the bytes that `fill` writes. `fill` returns the number of these bytes.
  private func filled(
    _ capacity: Int, _ fill: (UnsafeMutableRawPointer, Int) -> Int
  ) throws -> [UInt8] {
    var failure: Failure?
    // The library needs an address even if it writes nothing, so the array has room for at least one byte.
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: max(capacity, 1)) { buffer, count in
      guard let base = buffer.baseAddress else { return }
      let result = unsafe fill(UnsafeMutableRawPointer(base), capacity)
      guard ZSTD_isError(result) == 0, ZDICT_isError(result) == 0 else {
        failure = Failure(unsafe String(cString: ZSTD_getErrorName(result)))
        return
      }
      count = min(result, capacity)
    }
    if let failure { throw failure }
    return bytes
  }

  /// A context of the library, used by one thread at a time.
  @safe private final class Compressor: @unchecked Sendable {
    let pointer = unsafe ZSTD_createCCtx()
    deinit { unsafe ZSTD_freeCCtx(pointer) }
  }

  @safe private final class Decompressor: @unchecked Sendable {
    let pointer = unsafe ZSTD_createDCtx()
    deinit { unsafe ZSTD_freeDCtx(pointer) }
  }

  /// A dictionary, prepared for use by any number of threads.
  @safe package final class Dictionary: @unchecked Sendable {
    /// The number of the dictionary. Each frame that was compressed with the dictionary has this number, too.
    package let id: UInt32
    fileprivate let compressing: OpaquePointer
    fileprivate let decompressing: OpaquePointer

    /// Nil for bytes that are not a dictionary.
    package init?(_ bytes: [UInt8], level: Int) {
      id = unsafe ZDICT_getDictID(bytes, bytes.count)
      guard id != 0, let compressing = unsafe ZSTD_createCDict(bytes, bytes.count, Int32(level))
      else { return nil }
      guard let decompressing = unsafe ZSTD_createDDict(bytes, bytes.count) else {
        unsafe ZSTD_freeCDict(compressing)
        return nil
      }
      unsafe self.compressing = compressing
      unsafe self.decompressing = decompressing
    }

    deinit {
      unsafe ZSTD_freeCDict(compressing)
      unsafe ZSTD_freeDDict(decompressing)
    }
  }
#endif
