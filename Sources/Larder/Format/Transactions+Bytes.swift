import LMDB

// Arrays as keys and values, for everything but the read path of the application.

extension ReadTransaction {
  func find(_ key: [UInt8], in database: Database) throws(LMDBError) -> Region? {
    try find(key.span, in: database)
  }
}

extension WriteTransaction {
  @_lifetime(borrow self)
  func value(for key: [UInt8], in database: Database) throws(LMDBError) -> Span<UInt8>? {
    try value(for: key.span, in: database)
  }

  mutating func put(_ value: [UInt8], for key: [UInt8], in database: Database) throws(LMDBError) {
    try put(value.span, for: key.span, in: database)
  }

  @discardableResult
  mutating func remove(_ key: [UInt8], from database: Database) throws(LMDBError) -> Bool {
    try remove(key.span, from: database)
  }
}
