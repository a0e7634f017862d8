import LarderSystem

/// Searches the free lists for a run of pages as LMDB's `mdb_page_alloc` does.
///
/// LMDB reads one list after another until the pages read contain a run, and gives up `60 * pages` lists after it has read
/// as many pages as the run has. It takes single pages from those read, the lowest first, and reads on when none is left.
struct RunSearch {
  private let pages: Int
  private var known: PageSet
  private var found = 0
  private var lists = 0
  private var lastList = Int.max
  /// How many of the single pages the lists read so far do not contain.
  private(set) var missing: Int

  init(pages: Int, singles: Int, fileEnd: Int) {
    self.pages = pages
    missing = singles
    known = PageSet(upTo: fileEnd)
  }

  /// Whether the next list matters. The transaction may need fewer single pages than allowed for; LMDB then reads no more
  /// lists than without any.
  var shouldContinue: Bool { lists < lastList }

  mutating func add(_ list: borrowing FreeList) throws(LMDBError) {
    lists += 1
    for index in 0..<list.count {
      guard known.insert(list.page(index)) else { throw .corrupted }
    }
    found += list.count
    if found >= pages, lastList == .max { lastList = lists + 60 * pages }
    while missing > 0, known.removeLowest() { missing -= 1 }
  }

  var hasRun: Bool { known.hasRun(of: pages) }
}

/// A set of page numbers, with one bit for each page of the file.
struct PageSet {
  private let end: UInt64
  private var words: [UInt64]
  /// All words before this one are 0.
  private var lowest = 0

  init(upTo end: Int) {
    self.end = UInt64(end)
    words = [UInt64](repeating: 0, count: end / 64 + 1)
  }

  /// Returns false if the file has no such page.
  mutating func insert(_ page: UInt64) -> Bool {
    guard page < end else { return false }
    let word = Int(page / 64)
    words[word] |= 1 << (page % 64)
    lowest = min(lowest, word)
    return true
  }

  func contains(_ page: UInt64) -> Bool {
    page < end && words[Int(page / 64)] & 1 << (page % 64) != 0
  }

  /// Returns false if the set is empty.
  mutating func removeLowest() -> Bool {
    while lowest < words.count, words[lowest] == 0 { lowest += 1 }
    guard lowest < words.count else { return false }
    words[lowest] &= words[lowest] - 1
    return true
  }

  func hasRun(of length: Int) -> Bool {
    var run = 0
    for word in words[lowest...] {
      var rest = word
      var left = 64
      while left > 0 {
        let zeros = min(rest.trailingZeroBitCount, left)
        if zeros > 0 { run = 0 }
        rest = zeros == 64 ? 0 : rest >> UInt64(zeros)
        left -= zeros
        let ones = min((~rest).trailingZeroBitCount, left)
        run += ones
        if run >= length { return true }
        rest = ones == 64 ? 0 : rest >> UInt64(ones)
        left -= ones
      }
    }
    return false
  }
}
