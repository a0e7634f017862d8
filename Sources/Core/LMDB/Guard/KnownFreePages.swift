/// The lists of free pages in a commit. ``advance(to:)`` updates the lists to a later commit of any process.
///
/// A commit takes pages from the oldest lists, the lowest page of a list first, and stores the rest of these lists again. The
/// commit adds a list of its freed pages. So an update reads only the oldest and the new lists, and the end of a shortened list.
///
/// The lists are in memory, because a process that was killed before its commit may have overwritten pages of the old lists.
struct KnownFreePages {
  /// The pages that a commit has freed, in descending order.
  struct List {
    let commit: UInt64
    private(set) var pages: [UInt64]

    init(_ list: borrowing FreeList) {
      commit = list.transaction
      pages = list.pages
    }

    fileprivate mutating func replace(from start: Int, by list: borrowing FreeList) {
      pages.removeSubrange(start...)
      for index in start..<list.count { pages.append(list.page(index)) }
    }
  }

  /// A queue of lists in two arrays. The last element of `old` is the oldest list; the last element of `young` is the youngest.
  private var old: [List]
  private var young: [List] = []
  private var pages: PageSet
  private(set) var commit: UInt64
  private(set) var count: Int

  /// - Parameter lists: all lists of the commit, with the oldest list first; `pages` is the set of their pages.
  init(_ lists: [List], _ pages: PageSet, of commit: UInt64) {
    old = lists.reversed()
    self.pages = pages
    self.commit = commit
    count = lists.reduce(0) { $0 + $1.pages.count }
  }

  func contains(_ page: UInt64) -> Bool { pages.contains(page) }

  /// The number of pages that were freed by commits after the commit `former`.
  func count(after former: UInt64) -> Int {
    (old + young).reduce(0) { $0 + ($1.commit > former ? $1.pages.count : 0) }
  }

  /// - Precondition: `next` is the last commit, and is later than ``commit``.
  /// - Returns: the number of pages that were freed after ``commit``.
  mutating func advance(to next: SnapshotPages) throws(PageDamage) -> Int {
    pages.grow(upTo: next.lastPage + 1)
    do throws(LMDBError) {
      var cursor = TreeCursor(next.free, in: next.table, numberKeys: true)
      let added = try added(&cursor)
      try followTaken(&cursor)
      for list in added.reversed() {
        insert(list.pages[...])
        young.append(list)
      }
      commit = next.id
      return added.reduce(0) { $0 + $1.pages.count }
    } catch {
      throw PageDamage(page: next.free.root, reason: "the lists of free pages cannot be read")
    }
  }

  /// The lists of the commits after ``commit``, with the youngest list first.
  private func added(_ cursor: inout TreeCursor) throws(LMDBError) -> [List] {
    var added: [List] = []
    var record = try cursor.last()
    while let found = record, case let list = try FreeList(found.keyBytes, found.valueBytes),
      list.transaction > commit
    {
      added.append(List(list))
      record = try cursor.previous()
    }
    return added
  }

  /// Replaces the oldest lists, up to the first list that no commit has changed.
  private mutating func followTaken(_ cursor: inout TreeCursor) throws(LMDBError) {
    var changed: [(list: List, from: Int)] = []
    var isUnchanged = false
    var record = try cursor.first()
    while let found = record, case let list = try FreeList(found.keyBytes, found.valueBytes),
      list.transaction <= commit
    {
      while let oldest = oldestCommit, oldest < list.transaction {
        remove(old.removeLast().pages[...])
      }
      if oldestCommit == list.transaction {
        isUnchanged = list.hasSameEnds(as: old[old.count - 1].pages)
        if isUnchanged { break }
        var rest = old.removeLast()
        let from = list.commonCount(with: rest.pages)
        remove(rest.pages[from...])
        rest.replace(from: from, by: list)
        changed.append((rest, from))
      } else {
        // LMDB may store the rest of a long list as several lists, so this list is new.
        changed.append((List(list), 0))
      }
      record = try cursor.next()
    }
    while !isUnchanged, oldestCommit != nil { remove(old.removeLast().pages[...]) }
    // A page may now be on another list. So all old pages are removed first, and then the new pages are inserted.
    while let (list, from) = changed.popLast() {
      insert(list.pages[from...])
      old.append(list)
    }
  }

  private var oldestCommit: UInt64? {
    mutating get {
      if old.isEmpty {
        swap(&old, &young)
        old.reverse()
      }
      return old.last?.commit
    }
  }

  private mutating func insert(_ added: ArraySlice<UInt64>) {
    for page in added { _ = pages.insert(page) }
    count += added.count
  }

  private mutating func remove(_ taken: ArraySlice<UInt64>) {
    for page in taken { pages.remove(page) }
    count -= taken.count
  }
}
