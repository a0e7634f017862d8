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
    var areDistinct = true
    var former: SearchKey?
    for index in 0..<page.count {
      guard let node = page.node(index), case let start = unsafe node.start - page.start,
        case let value = try isLeaf ? valueSize(of: node, index, on: number) : 0,
        start % 2 == 0, value <= node.room
      else { throw PageDamage(page: number, reason: "record \(index) lies outside the page") }
      let size = PageTable.nodeHeaderSize + node.keyCount + value
      areDistinct = tiling.add(start, size: (size + 1) & ~1) && areDistinct
      if !isLeaf {
        guard table.contains(node.child) else {
          throw PageDamage(page: number, reason: "a reference to page \(node.child)")
        }
        // The first record of a branch page leads to every key before the second record's key, so its own key is not checked.
        if index == 0 { continue }
      }
      let key = unsafe node.searched
      guard numberKeys ? node.keyCount == 8 : (1...511).contains(node.keyCount),
        unsafe former?.isBefore(key, numberKeys: numberKeys) != false
      else { throw PageDamage(page: number, reason: "record \(index) is out of order") }
      unsafe former = key
    }
    try checkBounds(of: page, reference)
    guard areDistinct, tiling.isWhole else {
      throw PageDamage(page: number, reason: "its records do not lie side by side")
    }
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

/// Says whether pieces fill a range of a page without gaps. Each piece must begin at the start of the range or at the end of
/// another piece, and end at the end of the range or at the start of another piece. Offsets are even and at most 32 KiB.
@safe final class Tiling {
  /// One bit for each two bytes: first the bits for the starts of pieces, then the bits for the ends of pieces.
  private let bits: UnsafeMutablePointer<UInt64>
  private static let capacity = 32_768 / 128 + 1
  private var words = 0

  init() { unsafe bits = .allocate(capacity: 2 * Self.capacity) }

  deinit { unsafe bits.deallocate() }

  func begin(from start: Int, to end: Int) {
    words = end / 128 + 1
    unsafe bits.update(repeating: 0, count: words)
    unsafe (bits + Self.capacity).update(repeating: 0, count: words)
    // The end of the range counts as the start of a piece, so that the last piece ends where a piece begins.
    _ = insert(end, 0)
    _ = insert(start, Self.capacity)
  }

  /// Adds a piece, which must lie inside the range. Returns false if another piece has the same start or the same end.
  @inline(__always)
  func add(_ start: Int, size: Int) -> Bool {
    let begins = insert(start, 0)
    let ends = insert(start &+ size, Self.capacity)
    return begins && ends
  }

  /// Whether each piece begins where another piece ends. Valid only if ``add(_:size:)`` has returned true for all pieces.
  var isWhole: Bool { unsafe memcmp(bits, bits + Self.capacity, 8 * words) == 0 }

  @inline(__always)
  private func insert(_ offset: Int, _ set: Int) -> Bool {
    let word = set &+ offset &>> 7
    let bit = UInt64(1) &<< UInt64(truncatingIfNeeded: offset &>> 1 & 63)
    let former = unsafe bits[word]
    unsafe bits[word] = former | bit
    return former & bit == 0
  }
}
