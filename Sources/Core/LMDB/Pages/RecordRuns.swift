import CLarderSystem
import LarderSystem

/// The records of a database in the order of their keys, one leaf page after another.
///
/// A run is a sequence of neighbouring records in a leaf, each checked as ``TreeCursor`` checks a record. A scan makes one call
/// for each run, not for each record. The type is public only for inlining: no product exports this target.
@safe public struct RecordRuns: ~Copyable, ~Escapable {
  /// The key and the value of a record, as addresses in the memory map.
  @safe @usableFromInline struct Record {
    @usableFromInline let key: UnsafeRawPointer
    @usableFromInline let keyCount: Int
    @usableFromInline let value: UnsafeRawPointer
    @usableFromInline let valueCount: Int

    var keyBytes: Span<UInt8> {
      @inline(__always) @_lifetime(borrow self) get {
        unsafe _overrideLifetime(Span(Region(start: key, count: keyCount)), borrowing: self)
      }
    }

    var valueBytes: Span<UInt8> {
      @inline(__always) @_lifetime(borrow self) get {
        unsafe _overrideLifetime(Span(Region(start: value, count: valueCount)), borrowing: self)
      }
    }
  }

  package static let longest = 64

  private var cursor: TreeCursor
  @usableFromInline let records: UnsafeMutablePointer<Record>
  /// The number of records in the current run; 0 after the last run.
  @usableFromInline private(set) package var count = 0

  /// Shows the run that begins with the first record whose key is `start` or a later key.
  @unsafe @_lifetime(immortal)
  init(_ tree: Tree, in table: PageTable, from start: Span<UInt8>) throws(LMDBError) {
    cursor = TreeCursor(tree, in: table, numberKeys: false)
    unsafe records = .allocate(capacity: Self.longest)
    if let first = try unsafe cursor.seek(SearchKey(start)) {
      count = unsafe cursor.fill(records, from: first)
    }
  }

  deinit { unsafe records.deallocate() }

  @_lifetime(self: copy self)
  package mutating func next() throws(LMDBError) {
    count = 0
    if let first = try cursor.next() { count = unsafe cursor.fill(records, from: first) }
  }

  @inlinable @inline(__always)
  @_lifetime(copy self)
  public func key(_ index: Int) -> Span<UInt8> {
    precondition(index >= 0 && index < count)
    let start = unsafe records[index].key.assumingMemoryBound(to: UInt8.self)
    let bytes = unsafe Span(_unsafeStart: start, count: records[index].keyCount)
    return unsafe _overrideLifetime(bytes, copying: self)
  }

  @inlinable @inline(__always)
  @_lifetime(copy self)
  public func value(_ index: Int) -> Span<UInt8> {
    precondition(index >= 0 && index < count)
    let start = unsafe records[index].value.assumingMemoryBound(to: UInt8.self)
    let bytes = unsafe Span(_unsafeStart: start, count: records[index].valueCount)
    return unsafe _overrideLifetime(bytes, copying: self)
  }
}

extension ReadTransaction {
  /// The records whose keys are `start` or later keys. `start` must not be empty.
  @_lifetime(borrow self)
  package func runs(from start: Span<UInt8>, in database: Database) throws(LMDBError) -> RecordRuns
  {
    guard let tree = tree(of: database) else { throw .damagedPage }
    let runs = try unsafe RecordRuns(tree, in: slot.pointee.snapshot.pages.table, from: start)
    return unsafe _overrideLifetime(runs, borrowing: self)
  }
}

extension TreeCursor {
  /// Puts a record and the following records of its leaf into `records`, moves to the last of them, and returns their number.
  /// The run ends before a damaged record and before a record with overflow pages. The next move reaches that record.
  @unsafe fileprivate mutating func fill(
    _ records: UnsafeMutablePointer<RecordRuns.Record>, from first: Record
  ) -> Int {
    unsafe records[0] = first
    let (page, table) = (path.leaf.page, pages.table)
    if path.tree.depth > 1 { Self.prefetchLeaves(behind: path.branch, in: table) }
    var former = unsafe SearchKey(first.key, count: first.keyCount, readable: 8)
    var index = path.leaf.index &+ 1
    var count = 1
    while index < page.count, count < RecordRuns.longest,
      let node = page.node(index), node.flags == 0
    {
      let key = unsafe node.searched
      guard unsafe former.isBefore(key), let record = table.record(of: node) else { break }
      unsafe records[count] = record
      for line in 1...3 { unsafe larder_prefetch(node.start + 64 &* line) }
      unsafe former = unsafe key
      count &+= 1
      index &+= 1
    }
    unsafe move(to: index &- 1, key: former)
    return count
  }

  /// Starts to load the beginnings of the records in the next leaf, and the header of the leaf after that leaf.
  private static func prefetchLeaves(behind place: TreePath.Level, in table: PageTable) {
    guard let next = leaf(place.index &+ 1, of: place.page, in: table),
      let page = TreePage(next, isLeaf: true, in: table)
    else { return }
    for index in 0..<min(page.count, 32) { page.prefetch(index, lines: 1) }
    if let later = leaf(place.index &+ 2, of: place.page, in: table) {
      unsafe larder_prefetch(table.address(of: later))
    }
  }

  /// The page number in record `index` of a branch page. Nil if there is no such record or no such page.
  private static func leaf(_ index: Int, of branch: TreePage, in table: PageTable) -> UInt64? {
    guard index < branch.count, let node = branch.node(index), table.contains(node.child)
    else { return nil }
    return node.child
  }
}
