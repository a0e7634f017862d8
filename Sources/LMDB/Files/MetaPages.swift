import CLMDB
import CLarderSystem
import LarderSystem
import Synchronization

/// The two meta pages of the data file, mapped separately.
///
/// LMDB's map moves when it grows and disappears when the environment closes, so asking LMDB for the newest commit would
/// race with both. This map stays until the last reference to the environment is released, and needs no lock.
@safe final class MetaPages: Sendable {
  nonisolated(unsafe) private let start: UnsafeMutableRawPointer
  let pageSize: Int

  /// The offsets of `mm_last_pg` and `mm_txnid` in a meta page (`mdb.c`: MDB_page, MDB_meta).
  private static let lastPage = 136
  static let transaction = 144

  init(path: String, pageSize: Int) throws(LMDBError) {
    let file = try FileDescriptor(opening: path, O_RDONLY | O_NOFOLLOW)
    guard let start = unsafe larder_map(file.number, 2 * pageSize) else {
      throw .last
    }
    unsafe self.start = start
    self.pageSize = pageSize
  }

  deinit { unsafe munmap(start, 2 * pageSize) }

  @inline(__always)
  private func word(_ offset: Int) -> UInt64 {
    unsafe (start + offset).assumingMemoryBound(to: Atomic<UInt64>.self).pointee.load(
      ordering: .acquiring)
  }

  /// The number of the newest commit.
  @inline(__always)
  var lastTransaction: UInt64 {
    max(word(Self.transaction), word(pageSize &+ Self.transaction))
  }

  /// The meta page that commit `transaction` used. It shows that commit only while no process can write.
  func image(of transaction: UInt64) -> MetaImage {
    let page = unsafe UnsafeRawBufferPointer(
      start: start + Int(transaction % 2) * pageSize, count: MetaImage.size)
    return unsafe MetaImage(pageSize: pageSize, bytes: [UInt8](page))
  }

  /// The meta page that a commit belongs to.
  @unsafe func address(of transaction: UInt64) -> UnsafeRawPointer {
    unsafe UnsafeRawPointer(start + Int(transaction % 2) * pageSize)
  }

  /// The number of pages ever used, as of the newest commit; no more than any file can have, if the page is damaged.
  var pages: Int {
    let second = word(pageSize + Self.transaction) > word(Self.transaction)
    return Int(min(word((second ? pageSize : 0) + Self.lastPage), 1 << 40)) + 1
  }
}
