import CLarderSystem

/// Checks a page completely before a change, because LMDB moves and measures all content of a page that it changes.
struct PageCheck {
  let table: PageTable
  /// Whether the keys are numbers in the machine's byte order, as in the list of free pages.
  let numberKeys: Bool
  /// A buffer that the checks of many pages share.
  var tiling = Tiling()

  /// Checks that the records fill the page from `upper` to its end without gaps, that their keys ascend and are in the range of
  /// the reference, and that Larder's files have records of this kind. A branch page needs two records, in the free list one.
  func check(_ reference: PageReference, isLeaf: Bool) throws(PageDamage) {
    let number = reference.page
    let page = try open(number, isLeaf: isLeaf)
    guard isLeaf || page.count >= 2 || numberKeys else {
      throw PageDamage(page: number, reason: "a branch of one page")
    }
    tiling.begin(from: page.upper, to: page.size)
    // The first words of the former key, which decide nearly every comparison.
    var (first, second) = (UInt64(0), UInt64(0))
    let hasBytes = !numberKeys
    for index in 0..<page.count {
      guard let node = page.node(index), case let start = unsafe node.start - page.start,
        case let value = try isLeaf ? valueSize(of: node, index, on: number) : 0,
        start & 1 == 0, value <= node.room
      else { throw PageDamage(page: number, reason: "record \(index) lies outside the page") }
      let size = PageTable.nodeHeaderSize &+ node.keyCount &+ value
      tiling.add(start, size: (size &+ 1) & ~1)
      if !isLeaf {
        guard table.contains(node.child) else {
          throw PageDamage(page: number, reason: "a reference to page \(node.child)")
        }
        // The first record of a branch page leads to every key before the second record's key, so its own key is not checked.
        if index == 0 { continue }
      }
      let key = unsafe node.searched
      guard
        unsafe hasBytes && key.count <= 511
          && (key.first > first || key.first == first && key.second > second)
          || follows(key, index, in: page)
      else { throw PageDamage(page: number, reason: "record \(index) is out of order") }
      unsafe (first, second) = (key.first, key.second)
    }
    try checkBounds(of: page, reference)
    guard tiling.isWhole else {
      throw PageDamage(page: number, reason: "its records do not lie side by side")
    }
  }

  /// Whether the key of record `index` has a possible length, and is after the key of the record before it.
  @inline(never)
  private func follows(_ key: SearchKey, _ index: Int, in page: TreePage) -> Bool {
    guard unsafe numberKeys ? key.count == 8 : (1...511).contains(key.count) else { return false }
    if index == (page.isLeaf ? 0 : 1) { return true }
    guard let former = unsafe page.node(index - 1)?.searched else { return false }
    return unsafe former.isBefore(key, numberKeys: numberKeys)
  }

  func checkBounds(of page: TreePage, _ reference: PageReference) throws(PageDamage) {
    if page.lies(in: reference, numberKeys: numberKeys) { return }
    throw PageDamage(page: reference.page, reason: "its keys belong to another page")
  }

  /// Checks only that each record lies inside the page, and that records of this kind occur in Larder's files.
  func checkRecords(of page: TreePage, _ number: UInt64) throws(PageDamage) {
    for index in 0..<page.count {
      guard let node = page.node(index),
        try (page.isLeaf ? valueSize(of: node, index, on: number) : 0) <= node.room
      else { throw PageDamage(page: number, reason: "record \(index) lies outside the page") }
    }
  }

  func open(_ number: UInt64, isLeaf: Bool) throws(PageDamage) -> TreePage {
    guard table.contains(number) else {
      throw PageDamage(page: number, reason: "a reference to a page that the file does not have")
    }
    guard let page = TreePage(number, isLeaf: isLeaf, in: table) else {
      throw PageDamage(
        page: number, reason: "it is not the \(isLeaf ? "leaf" : "branch") page that it must be")
    }
    guard page.hasEvenBounds else {
      throw PageDamage(page: number, reason: "its bounds are impossible")
    }
    return page
  }

  private func valueSize(
    of node: TreePage.Node, _ index: Int, on page: UInt64
  ) throws(PageDamage) -> Int {
    switch node.flags {
    case 0: return node.valueCount
    case PageTable.database where node.valueCount == Tree.size && !numberKeys:
      return node.valueCount
    case PageTable.bigValue: return 8
    default: throw PageDamage(page: page, reason: "record \(index) is of an unknown kind")
    }
  }
}

/// Says whether pieces fill a range of a page without gaps and without overlaps. Offsets are even and at most 32 KiB.
///
/// Each piece connects two points, its start and its end. If an odd number of pieces touches the start of the range, an odd
/// number touches its end, and an even number touches each other point, then some pieces are a path through the whole range. If
/// the sizes of all pieces add up to the size of the range, this path never goes back, and there is no other piece.
@safe final class Tiling {
  /// One bit for each two bytes: whether an odd number of pieces touches the point. At the ends of the range, the bit is inverted.
  private let bits: UnsafeMutablePointer<UInt64>
  private var words = 0
  private var left = 0

  init() { unsafe bits = .allocate(capacity: 32_768 / 128 + 1) }

  deinit { unsafe bits.deallocate() }

  func begin(from start: Int, to end: Int) {
    words = end / 128 + 1
    unsafe bits.update(repeating: 0, count: words)
    flip(end)
    flip(start)
    left = end - start
  }

  /// Adds a piece, which must lie inside the range and must not be empty.
  @inline(__always)
  func add(_ start: Int, size: Int) {
    flip(start)
    flip(start &+ size)
    left &-= size
  }

  var isWhole: Bool {
    (0..<words).reduce(UInt64(bitPattern: Int64(left))) { unsafe $0 | bits[$1] } == 0
  }

  @inline(__always)
  private func flip(_ offset: Int) {
    unsafe bits[offset &>> 7] ^= 1 &<< UInt64(truncatingIfNeeded: offset &>> 1 & 63)
  }
}
