import CLarderSystem

/// A page of a tree whose header is checked: the page exists, has the right number and kind, and has bounds inside the page.
@safe struct TreePage {
  let start: UnsafeRawPointer
  let isLeaf: Bool
  let size: Int
  /// All records begin at this offset or at higher offsets.
  let upper: Int
  let count: Int

  enum Flags {
    static let branch: UInt64 = 0x01
    static let leaf: UInt64 = 0x02
    static let overflow: UInt64 = 0x04
    static let meta: UInt64 = 0x08
  }

  @inline(__always)
  init?(_ page: UInt64, isLeaf: Bool, in table: PageTable) {
    guard table.contains(page) else { return nil }
    let start = unsafe table.address(of: page)
    let word = unsafe start.loadUnaligned(fromByteOffset: 8, as: UInt64.self)
    let lower = Int(truncatingIfNeeded: word &>> 32 & 0xFFFF)
    let upper = Int(truncatingIfNeeded: word &>> 48)
    guard unsafe start.loadUnaligned(as: UInt64.self) == page,
      word &>> 16 & 0xFFFF == (isLeaf ? Flags.leaf : Flags.branch),
      // The page has at least one record, and that record has at least a header.
      lower > PageTable.headerSize, lower <= upper,
      upper &+ PageTable.nodeHeaderSize <= table.pageSize
    else { return nil }
    unsafe self.start = start
    self.isLeaf = isLeaf
    size = table.pageSize
    self.upper = upper
    count = (lower &- PageTable.headerSize) &>> 1
  }

  private init() {
    unsafe start = UnsafeRawPointer(bitPattern: 1)!
    isLeaf = false
    size = 0
    upper = 0
    count = 0
  }

  static var none: TreePage { TreePage() }

  /// The header and the key of a record. Both are already known to lie inside the page.
  @safe struct Node {
    let start: UnsafeRawPointer
    let keyCount: Int
    /// The number of bytes between the key and the end of the page.
    let room: Int

    var key: UnsafeRawPointer { unsafe start + PageTable.nodeHeaderSize }

    /// The address after the key. In a leaf, the value or the number of its first overflow page begins here.
    var value: UnsafeRawPointer { unsafe key + keyCount }

    @inline(__always)
    var searched: SearchKey { unsafe SearchKey(key, count: keyCount, readable: 8) }

    var child: UInt64 { unsafe start.loadUnaligned(as: UInt64.self) & 0xFFFF_FFFF_FFFF }

    var valueCount: Int { Int(truncatingIfNeeded: unsafe start.loadUnaligned(as: UInt32.self)) }

    var flags: UInt16 { unsafe start.loadUnaligned(fromByteOffset: 4, as: UInt16.self) }
  }

  /// The record `index`, which must be less than `count`. Nil if the record does not lie inside the page.
  @inline(__always)
  func node(_ index: Int) -> Node? {
    let offset = Int(
      unsafe start.loadUnaligned(
        fromByteOffset: PageTable.headerSize &+ 2 &* index, as: UInt16.self))
    guard offset >= upper, offset &+ PageTable.nodeHeaderSize <= size else { return nil }
    let node = unsafe start + offset
    let keyCount = Int(unsafe node.loadUnaligned(fromByteOffset: 6, as: UInt16.self))
    let room = size &- offset &- PageTable.nodeHeaderSize &- keyCount
    guard room >= 0 else { return nil }
    return unsafe Node(start: node, keyCount: keyCount, room: room)
  }

  /// Whether the keys are in the range that the reference to the page allows. False if a record does not lie inside the page.
  @inline(__always)
  func lies(in reference: PageReference, numberKeys: Bool) -> Bool {
    // The first record of a branch page leads to every key before the second record's key, so its own key is not checked.
    let first = isLeaf ? 0 : 1
    guard first < count else { return true }
    if let low = reference.low {
      guard let node = node(first),
        unsafe !node.searched.isBefore(low.searched, numberKeys: numberKeys)
      else { return false }
    }
    if let high = reference.high {
      guard let node = node(count &- 1),
        unsafe node.searched.isBefore(high.searched, numberKeys: numberKeys)
      else { return false }
    }
    return true
  }

  /// Starts to load the first 64-byte lines of record `index` into the processor's cache, if the page has such a record.
  @inline(__always)
  func prefetch(_ index: Int, lines: Int = 4) {
    guard index < count else { return }
    let offset = unsafe start.loadUnaligned(
      fromByteOffset: PageTable.headerSize &+ 2 &* index, as: UInt16.self)
    // The address may be outside the map. In this case the processor loads nothing.
    for line in 0..<lines { unsafe larder_prefetch(start + Int(offset) + 64 &* line) }
  }

  /// The index of the last record whose key is at most `key`; 0 if all keys are greater; -1 if the page is damaged.
  @inline(__always)
  func lastNotAfter(_ key: SearchKey) -> Int {
    var base = 0
    var left = count
    while left > 1 {
      let half = left &>> 1
      guard let node = node(base &+ half) else { return -1 }
      base = unsafe key.isBefore(node.searched) ? base : base &+ half
      left &-= half
    }
    return base
  }

  /// Like ``lastNotAfter(_:)``, but first tries the record `guess` and the next record. `guess` was looked up recently or is
  /// the last record of ordered writes or removals, so the key is often there.
  @inline(__always)
  func lastNotAfter(_ key: SearchKey, from guess: Int) -> Int {
    guard guess >= 0, guess < count, let node = node(guess), unsafe !key.isBefore(node.searched)
    else { return unsafe lastNotAfter(key) }
    var index = guess
    while index &+ 1 < count, index &- guess < 2 {
      guard let next = self.node(index &+ 1) else { return -1 }
      if unsafe key.isBefore(next.searched) { return index }
      index &+= 1
    }
    return index &+ 1 == count ? index : unsafe lastNotAfter(key)
  }

  var hasEvenBounds: Bool {
    let lower = unsafe start.loadUnaligned(fromByteOffset: 12, as: UInt16.self)
    return lower % 2 == 0 && upper % 2 == 0
  }
}
