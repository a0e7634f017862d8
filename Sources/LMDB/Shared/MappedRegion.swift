import CLMDB
public import Synchronization

/// One map of a file of words: its header, then the words.
///
///     byte   0  mark: "larder", 0, the file's kind
///            8  layout (u32), 0
///           16  the store's identity, 16 bytes
///           32  how many words of 32 bits
///           40  1 once another file has taken this one's place
///           64  the owner's notes, eight u64
///          128  the words
///
/// The header is in memory that others can write, so it is believed only when the file is opened; what bounds each access
/// is kept here.
@safe @usableFromInline struct MappedRegion: ~Copyable {
  @inlinable static var headerSize: Int { 128 }
  @inlinable static var leftOffset: Int { 40 }
  static let left: [UInt8] = [1, 0, 0, 0, 0, 0, 0, 0]

  /// Where the words begin, behind the header.
  @usableFromInline let words: UnsafeMutablePointer<UInt32>
  /// Bytes mapped; 0 for the one that stands for no file and is plain memory.
  private let length: Int
  @usableFromInline let count: Int
  @usableFromInline let isWritable: Bool
  /// Another file took this one's place, and it could not be mapped: this one is as good as any.
  @usableFromInline let isDetached = Atomic(false)

  private init(start: UnsafeMutableRawPointer, length: Int, count: Int, isWritable: Bool) {
    unsafe words = (start + Self.headerSize).assumingMemoryBound(to: UInt32.self)
    self.length = length
    self.count = count
    self.isWritable = isWritable
  }

  /// Stands for no file.
  static func none() -> UnsafeMutablePointer<MappedRegion> {
    let header = UnsafeMutableRawPointer.allocate(byteCount: headerSize, alignment: 64)
    unsafe header.initializeMemory(as: UInt8.self, repeating: 0, count: headerSize)
    return unsafe allocate(
      MappedRegion(start: header, length: 0, count: 0, isWritable: false))
  }

  /// Maps a file that is `headerSize + 4 * count` bytes long; nil if the system has no room for it.
  static func map(
    _ file: borrowing FileDescriptor, count: Int, isWritable: Bool
  ) -> UnsafeMutablePointer<MappedRegion>? {
    let length = headerSize + 4 * count
    let start =
      unsafe isWritable ? clmdb_map_shared(file.number, length) : clmdb_map(file.number, length)
    guard let start = unsafe start else { return nil }
    return unsafe allocate(
      MappedRegion(start: start, length: length, count: count, isWritable: isWritable))
  }

  private static func allocate(_ region: consuming MappedRegion)
    -> UnsafeMutablePointer<MappedRegion>
  {
    let place = UnsafeMutablePointer<MappedRegion>.allocate(capacity: 1)
    unsafe place.initialize(to: region)
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

  /// Whether another file has taken this one's place and is worth looking for.
  @inlinable var isSuperseded: Bool {
    unsafe left.pointee.load(ordering: .relaxed) != 0 && !isDetached.load(ordering: .relaxed)
  }

  @inlinable var left: UnsafeMutablePointer<Atomic<UInt64>> {
    unsafe (UnsafeMutableRawPointer(words) - (Self.headerSize - Self.leftOffset))
      .assumingMemoryBound(
        to: Atomic<UInt64>.self)
  }
}

extension SharedTable.Format {
  /// The first 40 bytes of a file of so many words.
  func header(count: Int) -> [UInt8] {
    var bytes = mark
    bytes.append(littleEndian: layout)
    bytes.append(littleEndian: UInt32(0))
    bytes += store
    bytes.append(littleEndian: UInt64(count))
    return bytes
  }

  var mark: [UInt8] {
    Array("larder".utf8) + [0, UInt8(MappedFile.allCases.firstIndex(of: file)! + 1)]
  }

  /// How many words a file with that header and length has; nil if it is none of ours.
  func count(header: [UInt8], size: Int) -> Int? {
    let count = (size - MappedRegion.headerSize) / 4
    guard count > 0, count % 2 == 0, size == MappedRegion.headerSize + 4 * count,
      header == self.header(count: count), accepts(count)
    else { return nil }
    return count
  }
}

extension [UInt8] {
  fileprivate mutating func append<Number: FixedWidthInteger>(littleEndian number: Number) {
    for shift in stride(from: 0, to: Number.bitWidth, by: 8) {
      append(UInt8(truncatingIfNeeded: number >> Number(shift)))
    }
  }
}
