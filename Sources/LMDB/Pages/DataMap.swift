import CLarderSystem
import LarderSystem
import Synchronization

/// The data file mapped for the checked reader, apart from LMDB's map.
///
/// A mapping never moves and stays until the last reference to the environment is gone, as ``MetaPages`` does, so that
/// a read needs no lock for it. A file that outgrows its mapping gets another of twice the size beside it.
@safe final class DataMap: Sendable {
  let pageSize: Int
  /// The binary logarithm of the page size.
  let shift: Int
  private let file: FileDescriptor
  private let mappings = Mutex<[Mapping]>([])

  @safe private struct Mapping: @unchecked Sendable {
    let start: UnsafeMutableRawPointer
    let length: Int
  }

  /// The pages of the file that can be read: those that both the file and the mapping have.
  @safe struct Extent {
    let start: UnsafeRawPointer
    let pages: UInt64
  }

  /// - Returns: nil if the page size is not one that the reader knows; then only LMDB can read the file.
  init?(path: String, pageSize: Int) throws(LMDBError) {
    guard (512...32_768).contains(pageSize), pageSize.nonzeroBitCount == 1 else { return nil }
    self.pageSize = pageSize
    shift = pageSize.trailingZeroBitCount
    file = try FileDescriptor(opening: path, O_RDONLY | O_NOFOLLOW)
  }

  deinit {
    mappings.withLock { mappings in
      for mapping in mappings { unsafe munmap(mapping.start, mapping.length) }
    }
  }

  /// A mapping that has all pages of the file as it is now.
  ///
  /// - Parameter fileSize: the size of the file; nil asks the system.
  func extent(fileSize: Int? = nil) throws(LMDBError) -> Extent {
    guard let size = fileSize ?? file.status.map({ Int($0.st_size) }) else { throw .last }
    let number = file.number
    let unit = 1 << 24
    let result = mappings.withLock { mappings -> Result<Extent, LMDBError> in
      if mappings.last.map({ $0.length < size }) ?? true {
        let needed = (size + unit - 1) / unit * unit
        var length = max((size * 2 + unit - 1) / unit * unit, unit * 4)
        var mapped = unsafe larder_map(number, length)
        if unsafe mapped == nil {
          length = needed
          unsafe mapped = larder_map(number, length)
        }
        guard let start = unsafe mapped else { return .failure(.last) }
        unsafe mappings.append(Mapping(start: start, length: length))
      }
      let newest = mappings[mappings.count - 1]
      return unsafe .success(
        Extent(start: UnsafeRawPointer(newest.start), pages: UInt64(size >> shift)))
    }
    return try result.get()
  }
}
