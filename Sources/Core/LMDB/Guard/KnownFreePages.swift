/// The free pages of a commit, followed to later commits of any process.
///
/// Only the lists that the commits changed are read: a commit takes pages from the oldest lists, stores the rest of those again,
/// and stores one list of the pages that it freed.
struct KnownFreePages {
  /// All free pages, and maybe some that were free and are in use again.
  private var pages: PageSet

  init(_ pages: PageSet) { self.pages = pages }

  func mayContain(_ page: UInt64) -> Bool { pages.contains(page) }

  /// Notes that a page is in use.
  mutating func remove(_ page: UInt64) { pages.remove(page) }

  /// LMDB writes to a page that a commit freed from the third commit after it on. So up to two commits after `former` its
  /// lists are whole, and tell which pages were taken. After more commits those pages stay here.
  ///
  /// - Precondition: `next` is the last commit, and later than `former`.
  /// - Returns: the number of pages that were freed after `former`.
  mutating func advance(
    from former: SnapshotPages, to next: SnapshotPages
  ) throws(PageDamage) -> Int {
    pages.grow(upTo: next.lastPage + 1)
    do throws(LMDBError) {
      var cursor = Self.cursor(in: next)
      if next.id <= former.id + 2 {
        let unchanged = try removeTaken(former, next)
        while let record = try cursor.next() {
          let list = try unsafe FreeList(record)
          if list.transaction >= unchanged { break }
          insert(list)
        }
      } else {
        // A commit that frees pages which it had added to the file puts them on any list.
        for page in former.lastPage..<next.lastPage { _ = pages.insert(page + 1) }
      }
      var freed = 0
      var record = try cursor.last()
      while let found = record {
        let list = try unsafe FreeList(found)
        if list.transaction <= former.id { break }
        insert(list)
        freed += list.count
        record = try cursor.previous()
      }
      return freed
    } catch {
      throw PageDamage(page: next.free.root, reason: "the lists of free pages cannot be read")
    }
  }

  private mutating func insert(_ list: borrowing FreeList) {
    for index in 0..<list.count { _ = pages.insert(list.page(index)) }
  }

  /// Removes the pages of those lists at the front that the commit changed; returns the number of the first list that it
  /// did not.
  private mutating func removeTaken(
    _ former: SnapshotPages, _ next: SnapshotPages
  ) throws(LMDBError) -> UInt64 {
    var old = Self.cursor(in: former)
    var new = Self.cursor(in: next)
    var candidate = try new.next()
    while let record = try old.next() {
      let list = try unsafe FreeList(record)
      while let found = candidate, try unsafe FreeList(found).transaction < list.transaction {
        candidate = try new.next()
      }
      if let found = candidate, try unsafe list.isSame(as: FreeList(found)) {
        return list.transaction
      }
      for index in 0..<list.count { pages.remove(list.page(index)) }
    }
    return .max
  }

  /// Whether a list of the commit names the page.
  static func isFree(_ page: UInt64, in pages: SnapshotPages) throws(PageDamage) -> Bool {
    do throws(LMDBError) {
      var cursor = cursor(in: pages)
      while let record = try cursor.next() {
        if try unsafe FreeList(record).contains(page) { return true }
      }
      return false
    } catch {
      throw PageDamage(page: pages.free.root, reason: "the lists of free pages cannot be read")
    }
  }

  private static func cursor(in pages: SnapshotPages) -> TreeCursor {
    TreeCursor(pages.free, in: pages.table, numberKeys: true)
  }
}
