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
