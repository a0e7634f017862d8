import LMDB
import LarderSystem

/// The pages of a data file with a limit, as far as one batch may use them.
///
/// A value takes pages, and every change takes copies of the pages that it touches. The replaced pages are free only for the
/// second commit after the change. So a part of the file, the reserve, is kept free of entries. Removals always find room in
/// the reserve, and a value can be stored before the pages of evicted entries become free.
struct BatchPages {
  let limit: Int
  private let pages: Int
  private let pageSize: Int
  /// The number of pages that were free, or behind the end of the file, when the batch began.
  let available: Int
  /// The number of pages in use when the batch began; the batch copies at most this many.
  private let used: Int
  let reserve: Int
  // The pages of large values, and the bytes of small entries, that the batch has written.
  private var valuePages = 0
  private var smallBytes = 0

  /// The reserve: an eighth of the limit, at most 64 MB.
  static func reserve(of pages: Int, pageSize: Int) -> Int { min(pages / 8, (64 << 20) / pageSize) }

  static func usable(of limit: Int, pageSize: Int) -> Int {
    let pages = limit / pageSize
    return pages - reserve(of: pages, pageSize: pageSize)
  }

  init(limit: Int, pageSize: Int, available: Int, used: Int) {
    self.limit = limit
    self.pageSize = pageSize
    self.used = used
    pages = limit / pageSize
    reserve = Self.reserve(of: pages, pageSize: pageSize)
    self.available = available
  }

  /// An upper estimate of the pages that the batch has taken, from the number of used pages that it has changed. Leaves that
  /// were split are half full, and a changed page may be merged with its neighbours.
  func spent(changing pages: Int) -> Int {
    let new = valuePages + smallBytes * 2 / pageSize
    if new + smallBytes + pages == 0 { return 0 }
    return new + min(pages + pages / 4 + Self.branches, used + new)
  }

  /// - Parameter pages: the pages of a large value; 0 for a value in a leaf.
  mutating func spend(pages: Int, stored: Int) {
    valuePages += pages
    smallBytes += pages == 0 ? stored : 0
  }

  func pages(ofRecord count: Int) -> Int { (count + 16 + pageSize - 1) / pageSize }

  /// The number of consecutive pages of a large record; 0 for a record in a leaf.
  func pages(ofLargeRecord count: Int) -> Int {
    count > pageSize / 2 ? pages(ofRecord: count) : 0
  }

  /// The pages of a value in chunks of a page each, and of the branch pages above the chunks.
  func chunkPages(ofValue count: Int) -> Int {
    let chunkSize = pageSize - 16
    return count / chunkSize + count / (chunkSize * 64) + 2
  }

  var usable: Int { pages - reserve }

  func usable(leaving free: Int) -> Int { max(min(pages - free, usable), 0) }

  /// If more bytes than this number are left between the end of the file and the limit, a batch cannot reach the limit, even
  /// with all copies of pages.
  static let ample = 2 * (Rules.largestPossibleValue + WriteBatch.largestSize)
  /// The count of available pages stops here: no batch takes more.
  static let enough = 1 << 17
  /// Free pages that a batch needs to clean up.
  static let forCleanup = 32
  static let branches = 16
  static let perStep = 512
  /// Pages reserved for removals and for the commit itself.
  static let kept = 48
}
