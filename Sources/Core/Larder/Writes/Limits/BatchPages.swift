/// The pages of a data file with a limit that one batch may use. A value needs new pages, and each change also replaces each
/// page that it touches by a copy. Only the second commit after the change can use the replaced pages again. So a part of the
/// file, the reserve, stays free of entries: removals find room, and a value is stored before evicted pages are free.
struct BatchPages {
  let limit: Int
  let pageSize: Int
  /// The number of pages that the batch could take when it began: reusable free pages, and pages after the last page of the file.
  let available: Int
  /// The number of pages in use when the batch began. The batch copies each of these pages at most once.
  let used: Int
  // The pages of the large values, and the bytes of the small entries, that the batch has written.
  private(set) var valuePages = 0
  private(set) var smallBytes = 0

  /// The pages of a file without its reserve. The reserve is an eighth of the limit, at most 64 MB.
  static func usable(of limit: Int, pageSize: Int) -> Int {
    let pages = limit / pageSize
    return pages - min(pages / 8, (64 << 20) / pageSize)
  }

  private var pages: Int { limit / pageSize }

  var usable: Int { Self.usable(of: limit, pageSize: pageSize) }

  var reserve: Int { pages - usable }

  /// An upper estimate of the number of pages that the batch has taken; `pages` is the number of used pages that the batch has
  /// changed. So small entries count twice, for splits that leave pages half full. `pages / 4` is for merges with neighbours.
  func spent(changing pages: Int) -> Int {
    let new = valuePages + smallBytes * 2 / pageSize
    if new + smallBytes + pages == 0 { return 0 }
    return new + min(pages + pages / 4 + Self.branches, used + new)
  }

  /// - Parameter pages: the number of pages of a large value; 0 for a small value, which is in a leaf page.
  mutating func spend(pages: Int, stored: Int) {
    valuePages += pages
    smallBytes += pages == 0 ? stored : 0
  }

  func pages(ofRecord count: Int) -> Int { (count + 16 + pageSize - 1) / pageSize }

  func pages(ofLargeRecord count: Int) -> Int { count > pageSize / 2 ? pages(ofRecord: count) : 0 }

  /// The number of pages of a value in chunks of one page, with the branch pages above the chunks.
  func chunkPages(ofValue count: Int) -> Int {
    let chunkSize = pageSize - 16
    return count / chunkSize + count / (chunkSize * 64) + 2
  }

  func usable(leaving free: Int) -> Int { max(min(pages - free, usable), 0) }

  /// If more bytes than this number are left between the end of the file and the limit, no batch can reach the limit, even if
  /// the batch copies all pages that the batch may change.
  static let ample = 2 * (Rules.largestPossibleValue + WriteBatch.largestSize)
  /// Available pages are counted only up to this number, because no batch takes more pages.
  static let enough = 1 << 17
  static let forCleanup = 32
  /// An upper estimate of the number of pages that the removal of one entry copies.
  static let perRemoval = 8
  /// The number of entries that a batch may remove even if few pages are free, so that successive batches come to an end.
  static let leastRemoved = 16
  static let branches = 16
  static let perStep = 512
  /// The number of pages that are reserved for removals and for the commit itself.
  static let kept = 48
}
