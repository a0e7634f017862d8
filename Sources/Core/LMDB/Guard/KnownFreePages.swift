/// The free pages of a commit, followed from one commit of this process to the next.
///
/// Only the lists that the commit changed are read: it takes pages from the oldest lists, stores the rest of those again,
/// and stores one list of the pages that it freed.
struct KnownFreePages {
  /// All free pages, and maybe some that were free and are in use again.
  private var pages: PageSet

  init(_ pages: PageSet) { self.pages = pages }

  func mayContain(_ page: UInt64) -> Bool { pages.contains(page) }

  /// - Precondition: `next` is the commit after `former`, and no later commit exists, so that the pages of both are whole.
  /// - Returns: the number of pages that `next` freed.
  mutating func advance(
    from former: SnapshotPages, to next: SnapshotPages
  ) throws(PageDamage) -> Int {
    pages.grow(upTo: next.lastPage + 1)
    do throws(LMDBError) {
      let unchanged = try removeTaken(former, next)
      var cursor = Self.cursor(in: next)
      while let record = try cursor.next() {
        let list = try unsafe FreeList(record)
        if list.transaction >= unchanged { break }
        insert(list)
      }
      if let record = try cursor.last() {
        let list = try unsafe FreeList(record)
        if list.transaction == next.id {
          insert(list)
          return list.count
        }
      }
      return 0
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

  private static func cursor(in pages: SnapshotPages) -> TreeCursor {
    TreeCursor(pages.free, in: pages.table, numberKeys: true)
  }
}
