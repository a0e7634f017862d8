import LarderSystem

extension ReadTransaction {
  /// Checks every page of the snapshot: those of the databases, of the list of free pages and of large values.
  ///
  /// Reads the whole file. Empty for a file whose pages only LMDB itself can read.
  ///
  /// - Parameter databases: the named ones.
  package func damagedPages(databases: [Database]) throws(LMDBError) -> [PageDamage] {
    let pages = unsafe slot.pointee.snapshot.pages
    guard pages.isReadable else { return [] }
    var damage: [PageDamage] = []
    var visited = PageSet(upTo: Int(pages.lastPage) + 1)
    // The two meta pages belong to no tree.
    var used = 2 + pages.free.pages
    for database in [.main] + databases {
      guard let tree = tree(of: database) else {
        damage.append(
          PageDamage(page: pages.main.root, reason: "the root of a database cannot be found"))
        continue
      }
      var walk = TreeWalk(tree, in: pages.table, numberKeys: false, visited: visited)
      walk.run { _ in }
      if walk.damage.isEmpty { walk.checkCounts() }
      damage += walk.damage
      visited = walk.visited
      used += tree.pages
    }
    do throws(PageDamage) {
      var free = FreeListCheck(pages: pages)
      try free.run()
      if let page = free.free.first(in: visited) {
        throw PageDamage(page: page, reason: "it is in use and on a list of free pages")
      }
      // A writer compares these, too, and refuses.
      if damage.isEmpty { try free.compare(used: used) }
    } catch {
      damage.append(error)
    }
    return damage
  }
}

extension TreeCursor.Record {
  /// The bytes; valid until the snapshot ends.
  var keyBytes: Span<UInt8> {
    @_lifetime(borrow self) get {
      let bytes = unsafe UnsafeRawBufferPointer(start: key, count: keyCount)
      return unsafe _overrideLifetime(Span<UInt8>(_unsafeBytes: bytes), borrowing: self)
    }
  }

  var valueBytes: Span<UInt8> {
    @_lifetime(borrow self) get {
      let bytes = unsafe UnsafeRawBufferPointer(start: value, count: valueCount)
      return unsafe _overrideLifetime(Span<UInt8>(_unsafeBytes: bytes), borrowing: self)
    }
  }
}
