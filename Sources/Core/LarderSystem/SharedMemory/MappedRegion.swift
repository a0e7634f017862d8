import CLarderSystem
public import Synchronization

/// One memory map of a file of words, see `Docs/Internals/FileFormat.md`. Bytes 64 to 127 belong to the owner of the table.
/// Other processes can write to the header at any time, so bytes 0 to 39 are read only once, when the file is opened. Each
/// access is checked against the bounds in this object.
@safe @usableFromInline struct MappedRegion: ~Copyable {
  @inlinable static var headerSize: Int { 128 }
  @inlinable static var supersededOffset: Int { 40 }

  @usableFromInline let words: UnsafeMutablePointer<UInt32>
  /// The number of mapped bytes; 0 if there is no file, and then the header is in allocated memory.
  private let length: Int
  @usableFromInline let count: Int
  @usableFromInline let isWritable: Bool
  let file: FileIdentity?
  /// Set if another file has replaced this file but could not be mapped, so that this file stays in use.
  @usableFromInline let isDetached = Atomic(false)

  static func none() -> UnsafeMutablePointer<MappedRegion> {
    let header = UnsafeMutableRawPointer.allocate(byteCount: headerSize, alignment: 64)
    unsafe header.initializeMemory(as: UInt8.self, repeating: 0, count: headerSize)
    return unsafe allocate(at: header)
  }

  /// Maps a file of `headerSize + 4 * count` bytes; nil if the system cannot map the file.
  static func map(
    _ file: borrowing FileDescriptor, count: Int, isWritable: Bool
  ) -> UnsafeMutablePointer<MappedRegion>? {
    let length = headerSize + 4 * count
    guard let start = unsafe larder_map(file.number, length, isWritable) else { return nil }
    return unsafe allocate(
      at: start, length: length, count: count, isWritable: isWritable,
      file: file.status.map { FileIdentity($0) })
  }

  private static func allocate(
    at header: UnsafeMutableRawPointer, length: Int = 0, count: Int = 0, isWritable: Bool = false,
    file: FileIdentity? = nil
  ) -> UnsafeMutablePointer<MappedRegion> {
    let place = UnsafeMutablePointer<MappedRegion>.allocate(capacity: 1)
    unsafe place.initialize(
      to: MappedRegion(
        words: (header + headerSize).assumingMemoryBound(to: UInt32.self), length: length,
        count: count, isWritable: isWritable, file: file))
    return unsafe place
  }

  static func release(_ region: UnsafeMutablePointer<MappedRegion>) {
    let start = unsafe UnsafeMutableRawPointer(region.pointee.words) - headerSize
    if unsafe region.pointee.length == 0 {
      unsafe start.deallocate()
    } else {
      unsafe munmap(start, region.pointee.length)
    }
    unsafe region.deinitialize(count: 1)
    unsafe region.deallocate()
  }

  /// Whether another file has replaced this file and must be mapped. False after a failed try to map that other file.
  @inlinable var isSuperseded: Bool {
    let mark = unsafe (UnsafeMutableRawPointer(words) - (Self.headerSize - Self.supersededOffset))
      .assumingMemoryBound(to: Atomic<UInt64>.self)
    return unsafe mark.pointee.load(ordering: .relaxed) != 0 && !isDetached.load(ordering: .relaxed)
  }
}

extension SharedTable.Format {
  /// The first 40 bytes of a file with `count` words.
  func header(count: Int) -> [UInt8] {
    var bytes = mark
    bytes.append(littleEndian: UInt64(layout))
    bytes += store
    bytes.append(littleEndian: UInt64(count))
    return bytes
  }

  var mark: [UInt8] {
    Array("larder".utf8) + [0, UInt8(MappedFile.allCases.firstIndex(of: file)! + 1)]
  }

  /// The number of words in a file with this header and size; nil if this store or this build does not accept the file.
  func count(header: [UInt8], size: Int) -> Int? {
    let count = (size - MappedRegion.headerSize) / 4
    guard count > 0, count % 2 == 0, size == MappedRegion.headerSize + 4 * count,
      header == self.header(count: count), accepts(count)
    else { return nil }
    return count
  }
}
