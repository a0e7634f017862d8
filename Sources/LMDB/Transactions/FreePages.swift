import LarderSystem

/// One record of LMDB's free lists: the pages that one commit freed.
struct FreeList: ~Escapable {
  let transaction: UInt64
  let count: Int
  private let words: Span<UInt8>

  /// Checks the record's lengths, which LMDB does not.
  @_lifetime(copy record)
  init(_ record: Cursor.Record) throws(LMDBError) {
    guard record.key.count == 8 else { throw .corrupted }
    try self.init(of: record.key.word(at: 0), record.value)
  }

  @_lifetime(copy list)
  private init(of transaction: UInt64, _ list: Span<UInt8>) throws(LMDBError) {
    guard list.count >= 8 else { throw .corrupted }
    let count = list.word(at: 0)
    guard count <= UInt64(list.count / 8 - 1) else { throw .corrupted }
    self.transaction = transaction
    self.count = Int(count)
    words = list
  }

  /// The same of a record whose pages stay for as long as the list is used.
  @unsafe @_lifetime(immortal)
  init(_ record: TreeCursor.Record) throws(LMDBError) {
    guard record.keyCount == 8 else { throw .corrupted }
    let list = unsafe Span<UInt8>(
      _unsafeBytes: UnsafeRawBufferPointer(start: record.value, count: record.valueCount))
    try self.init(
      of: unsafe record.key.loadUnaligned(as: UInt64.self),
      unsafe _overrideLifetime(list, borrowing: ()))
  }

  func page(_ index: Int) -> UInt64 { words.word(at: 8 + 8 * index) }

  /// Whether both lists have the same number, length and first page.
  func isSame(as other: borrowing FreeList) -> Bool {
    transaction == other.transaction && count == other.count
      && (count == 0 || page(0) == other.page(0))
  }
}

extension ReadTransaction {
  /// The number of free pages in the file. Proportional to the number of free lists.
  package func freePages() throws(LMDBError) -> Int {
    var total = 0
    var cursor = try cursor(in: .free)
    while let record = try cursor.next() { total += try FreeList(record).count }
    return total
  }
}
