import LarderSystem

/// One record of LMDB's free lists: the pages that one commit freed.
struct FreeList: ~Escapable {
  let transaction: UInt64
  let count: Int
  private let words: Span<UInt8>

  /// Checks the record's lengths, which LMDB does not.
  @_lifetime(copy record)
  init(_ record: Cursor.Record) throws(LMDBError) {
    guard record.key.count == 8, record.value.count >= 8 else { throw .corrupted }
    let count = record.value.word(at: 0)
    guard count <= UInt64(record.value.count / 8 - 1) else { throw .corrupted }
    transaction = record.key.word(at: 0)
    self.count = Int(count)
    words = record.value
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
