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
