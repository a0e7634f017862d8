import CLMDB
import LarderSystem

/// The checks that every call of a write makes first: whether LMDB may touch the pages of the change.
extension WriteTransaction {
  /// - Returns: the record, if the guard has found it already; see ``WriteGuard/willRead(_:in:)``.
  func willRead(_ key: Span<UInt8>, in database: Database) throws(LMDBError) -> PageLookup? {
    var found: PageLookup?
    try checking(key) { (guarding, key) throws(PageDamage) in
      found = try guarding.willRead(key, in: database)
    }
    return found
  }

  func willStore(_ key: Span<UInt8>, count: Int, in database: Database) throws(LMDBError) {
    try checking(key) { (guarding, key) throws(PageDamage) in
      try guarding.willStore(key, count: count, in: database)
    }
  }

  func willAppend(_ key: Span<UInt8>, count: Int, in database: Database) throws(LMDBError) {
    try checking(key) { (guarding, key) throws(PageDamage) in
      try guarding.willAppend(key, count: count, in: database)
    }
  }

  func willRemove(_ key: Span<UInt8>, in database: Database) throws(LMDBError) {
    try checking(key) { (guarding, key) throws(PageDamage) in
      try guarding.willRemove(key, in: database)
    }
  }

  /// The record with the page number of the database's root.
  func willOpen(_ database: Database) throws(LMDBError) {
    guard let guarding else { return }
    try guarding.checking { () throws(PageDamage) in _ = try guarding.tree(of: database) }
  }

  @inline(__always)
  private func checking(
    _ key: Span<UInt8>, _ check: (WriteGuard, PageCheck.Key) throws(PageDamage) -> Void
  ) throws(LMDBError) {
    guard let guarding else { return }
    guard let key = unsafe PageCheck.Key(MDB_val(key)), key.count <= 511 else { return }
    try guarding.checking { () throws(PageDamage) in try check(guarding, key) }
  }
}

extension PageCheck.Key {
  /// Nil for no bytes.
  init?(_ value: MDB_val) {
    guard let start = unsafe value.mv_data, unsafe value.mv_size > 0 else { return nil }
    unsafe self.init(start: UnsafeRawPointer(start), count: value.mv_size)
  }
}

extension Environment {
  /// The guard of the write under way; nil in a file whose pages only LMDB can read.
  var activeWriteGuard: WriteGuard? { dataMap == nil ? nil : writeGuard }

  /// Gives the guard the commit on which write `id` begins. No other write can begin or end meanwhile.
  func beginGuarding(_ id: UInt64, fileSize: Int) throws(LMDBError) {
    guard dataMap != nil else { return }
    guard let pages = try snapshotPages(of: id - 1, fileSize: fileSize) else {
      return try writeGuard.checking { () throws(PageDamage) in
        throw PageDamage(page: (id - 1) % 2, reason: "the meta page of commit \(id - 1)")
      }
    }
    try writeGuard.checking { () throws(PageDamage) in try writeGuard.begin(pages) }
  }

  /// Whether pages are checked before they are read or written over; not in a file whose pages only LMDB can read.
  package var checksPages: Bool { dataMap != nil }

  /// The first damage that a write of this process found. From then on the process refuses all writes.
  package var damage: PageDamage? { writeGuard.damage }
}
