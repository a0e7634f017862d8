extension ReadTransaction {
  /// How many pages of the file are free for writes to use again. Proportional to the length of the free list.
  package func freePages() throws(LMDBError) -> Int {
    var total = 0
    var cursor = try cursor(in: .free)
    var record = try cursor.first()
    while let list = record {
      total += Int(list.value.word(at: 0))
      record = try cursor.next()
    }
    return total
  }
}
