import CLMDB
import CLarderSystem
import LarderSystem
import Synchronization

/// The data file, mapped for the reader that checks pages. A mapping never moves, and it stays until the last reference to the
/// environment is released, so reads need no lock. If the file becomes larger than its mapping, a larger mapping is added.
@safe final class DataMap: Sendable {
  let pageSize: Int
  let shift: Int
  private let file: FileDescriptor
  private let mappings: Mutex<[Mapping]>
  /// The start of the first mapping. LMDB's map moves when it grows and disappears when the environment closes, so it is not
  /// safe to ask LMDB for the newest commit. Instead this type reads the meta pages in its first mapping.
  nonisolated(unsafe) private let start: UnsafeMutableRawPointer

  @safe private struct Mapping: @unchecked Sendable {
    let start: UnsafeMutableRawPointer
    let length: Int
  }

  /// - Returns: nil if LMDB makes no files with this page size.
  init?(path: String, pageSize: Int) throws(LMDBError) {
    guard (512...32_768).contains(pageSize), pageSize.nonzeroBitCount == 1 else { return nil }
    let file = try FileDescriptor(opening: path, O_RDONLY | O_NOFOLLOW)
    let first = try Self.map(file.number, size: file.size())
    self.pageSize = pageSize
    shift = pageSize.trailingZeroBitCount
    unsafe start = first.start
    mappings = Mutex([first])
    self.file = file
  }

  deinit {
    mappings.withLock { mappings in
      for mapping in mappings { unsafe munmap(mapping.start, mapping.length) }
    }
  }

  private static func map(_ descriptor: Int32, size: Int) throws(LMDBError) -> Mapping {
    // No system maps more bytes, and twice the size must not overflow.
    guard size <= 1 << 46 else { throw LMDBError(code: ENOMEM) }
    let unit = 1 << 24
    let needed = (size + unit - 1) / unit * unit
    for length in [max((size * 2 + unit - 1) / unit * unit, unit * 4), needed] {
      if length > needed, larder_check_address_space(length + MapSize.spare) != 0 { continue }
      if let start = unsafe larder_map(descriptor, length, false) {
        return unsafe Mapping(start: start, length: length)
      }
    }
    throw .last
  }

  /// Throws if the system cannot read a page from the disk. A read of this page in the map would raise a signal instead.
  func checkReadable(_ page: UInt64) throws(LMDBError) {
    let bytes = try file.contents(at: Int(page) << shift, count: pageSize)
    if bytes.count != pageSize { throw .inputOutput }
  }

  /// All complete pages of the file. If `fileSize` is nil, asks the system for the size.
  func filePages(fileSize: Int? = nil) throws(LMDBError) -> PageTable {
    let size = if let fileSize { fileSize } else { try file.size() }
    let number = file.number
    return try mappings.withLock { mappings throws(LMDBError) in
      if mappings[mappings.count - 1].length < size {
        mappings.append(try Self.map(number, size: size))
      }
      let newest = mappings[mappings.count - 1]
      return unsafe PageTable(
        start: UnsafeRawPointer(newest.start), end: UInt64(size >> shift), shift: shift)
    }
  }

  // The functions below read the meta pages, so the file must have both meta pages.

  @inline(__always)
  private func word(_ offset: Int) -> UInt64 {
    unsafe (start + offset).assumingMemoryBound(to: Atomic<UInt64>.self).pointee.load(
      ordering: .acquiring)
  }

  @inline(__always)
  var lastTransaction: UInt64 {
    max(word(MetaPage.Offset.transaction), word(pageSize &+ MetaPage.Offset.transaction))
  }

  /// The meta page of the commit `transaction`. The image is surely of this commit only if no process can write during the call.
  func image(of transaction: UInt64) -> MetaImage {
    let page = unsafe UnsafeRawBufferPointer(
      start: start + Int(transaction % 2) * pageSize, count: MetaImage.size)
    return unsafe MetaImage(pageSize: pageSize, bytes: [UInt8](page))
  }

  var stamp: DataStamp {
    let place = pageSize - DataStamp.size
    return DataStamp(store: word(place), file: word(place + 8))
  }

  /// The number of pages that were ever used. The number has an upper bound, because the meta page may be damaged.
  var pages: Int {
    let second = word(pageSize + MetaPage.Offset.transaction) > word(MetaPage.Offset.transaction)
    return Int(min(word((second ? pageSize : 0) + MetaPage.Offset.lastPage), 1 << 40)) + 1
  }

  /// Gives a slot the pages of the commit `id`. Returns false if only ``pages(of:)`` can find these pages.
  @inline(__always)
  func hasPages(_ slot: UnsafeMutablePointer<ReaderSlot>, of id: UInt64) -> Bool {
    if unsafe slot.pointee.snapshot.pages.id == id { return true }
    return unsafe loadPages(slot, of: id)
  }

  /// Succeeds only for the newest commit, whose meta page is complete: a new commit overwrites the other meta page.
  @inline(never)
  private func loadPages(_ slot: UnsafeMutablePointer<ReaderSlot>, of id: UInt64) -> Bool {
    // Ignores an error here, because the slow path repeats the call and throws the error.
    guard let pages = try? pages(of: id), lastTransaction == id else { return false }
    unsafe slot.pointee.snapshot.show(pages)
    return true
  }

  /// The pages of a commit; nil if its meta page is damaged or overwritten. If `fileSize` is nil, asks the system for the size.
  func pages(of id: UInt64, fileSize: Int? = nil) throws(LMDBError) -> SnapshotPages? {
    let all = try filePages(fileSize: fileSize)
    guard all.end > 2 else { return nil }
    let pages = unsafe SnapshotPages(
      meta: UnsafeRawPointer(start + Int(id % 2) * pageSize), in: all)
    return pages?.id == id ? pages : nil
  }

  /// The pages of the commit that the read transaction shows, also if a newer commit was written but is not published yet. If
  /// the transaction shows the same commit after a renewal, the meta page was complete when this function read the page.
  func pages(of transaction: OpaquePointer) throws(LMDBError) -> SnapshotPages {
    var id = UInt64(truncatingIfNeeded: unsafe mdb_txn_id(transaction))
    for _ in 0..<1000 {
      let found = try pages(of: id)
      if let found, lastTransaction == id { return found }
      unsafe mdb_txn_reset(transaction)
      try check(unsafe mdb_txn_renew(transaction))
      let next = UInt64(truncatingIfNeeded: unsafe mdb_txn_id(transaction))
      if next == id {
        guard let found else { throw .damagedPage }
        return found
      }
      id = next
    }
    throw .damagedPage
  }
}
