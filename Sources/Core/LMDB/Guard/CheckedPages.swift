/// The pages of trees that were checked, with the changes of the write under way below them.
///
/// LMDB does not write to a page of the last commit before that commit is two commits old. New pages come from this process
/// itself. So a checked page stays checked from one commit of this process to the next.
struct CheckedPages {
  struct Facts {
    var page: UInt64 = 0
    /// The number of the last write that came to the page; the following properties belong to that write.
    var write: UInt32 = 0
    /// Bytes that the write has added to, and removed from, the records of this page.
    var added: Int32 = 0
    var removed: Int32 = 0
    /// Removals below a branch page after which LMDB may have merged its pages.
    var removals: Int32 = 0
    /// Pages below a branch page that may have been merged themselves.
    var drained: Int32 = 0
    var isDrained = false
    /// The distance from a drained page up to which its neighbours were checked.
    var covered: Int32 = 0
    /// Bytes used by all the pages below; 0 if they were not all checked.
    var total: Int32 = 0
    /// Whether the page behind a leaf was checked.
    var hasCheckedNext = false
    /// Whether those values of a leaf that lie on overflow pages were checked.
    var hasCheckedValues = false
    /// Whether the page was compared with the lists of free pages, or there were none to compare it with.
    var isCompared = false
    /// The address of the record that led to the page.
    var reference: UInt = 0
  }

  private var slots: [Facts]
  private var count = 0
  private var write: UInt32 = 0
  /// The number of pages of the last commit whose records the write under way has changed.
  private(set) var changed = 0
  /// Whether the lists of free pages are known, with which each page is compared once in a write.
  var hasLists = false

  init() { slots = [Facts](repeating: Facts(), count: 1024) }

  /// Begins another write, on the commit that the last write made or found.
  mutating func begin() {
    write &+= 1
    changed = 0
  }

  mutating func forget() {
    if count == 0 { return }
    count = 0
    slots = [Facts](repeating: Facts(), count: 1024)
  }

  var pages: Int { count }

  @inline(__always)
  private func place(of page: UInt64) -> Int {
    let mask = slots.count &- 1
    var place = Int(truncatingIfNeeded: (page &* 0x9E37_79B9_7F4A_7C15) &>> 40) & mask
    while slots[place].page != page, slots[place].page != 0 { place = (place &+ 1) & mask }
    return place
  }

  enum Visit {
    /// The first since the pages were forgotten.
    case first
    /// The first of this write, through the same record as in an earlier one, or the first since the lists are known.
    case same
    /// This write has been there, through the same record, and nothing is left to check.
    case again
    /// Another record led to the page in an earlier write.
    case moved
    /// Another record leads to the page, too.
    case twice
  }

  /// Notes that the write under way comes to a page through the record at the address `reference`.
  @inline(__always)
  mutating func visit(_ page: UInt64, through reference: UInt) -> Visit {
    let place = place(of: page)
    if slots[place].page == page, slots[place].write == write {
      if slots[place].reference != reference { return .twice }
      if slots[place].isCompared == hasLists { return .again }
      slots[place].isCompared = hasLists
      return .same
    }
    return visitFirst(page, through: reference)
  }

  @inline(never)
  private mutating func visitFirst(_ page: UInt64, through reference: UInt) -> Visit {
    if count * 2 >= slots.count { grow() }
    let place = place(of: page)
    let former = slots[place]
    slots[place] = Facts(page: page, write: write, isCompared: hasLists, reference: reference)
    if former.page == page { return former.reference == reference ? .same : .moved }
    count += 1
    return .first
  }

  /// - Precondition: this write came to the page.
  subscript(page: UInt64) -> Facts {
    @inline(__always) _read { yield slots[place(of: page)] }
    @inline(__always) _modify { yield &slots[place(of: page)] }
  }

  /// Notes that the write under way adds bytes to the records of a page, and removes others.
  ///
  /// - Precondition: this write came to the page.
  mutating func note(added: Int, removed: Int, on page: UInt64) {
    let place = place(of: page)
    if slots[place].added == 0, slots[place].removed == 0 { changed += 1 }
    slots[place].added &+= Int32(clamping: added)
    slots[place].removed &+= Int32(clamping: removed)
  }

  private mutating func grow() {
    let former = slots
    slots = [Facts](repeating: Facts(), count: former.count * 2)
    for facts in former where facts.page != 0 { slots[place(of: facts.page)] = facts }
  }
}
