/// The pages of trees that were checked, with the changes that the current write makes below them.
///
/// LMDB writes to no page of the last commit, and this process itself makes the new pages. So a checked page stays checked
/// from one commit of this process to the next.
struct CheckedPages {
  struct Facts {
    var page: UInt64 = 0
    /// The number of the last write that used the page; the following properties belong to that write.
    var write: UInt32 = 0
    /// In bytes of this page's records.
    var added: Int32 = 0
    var removed: Int32 = 0
    /// Removals below a branch page after which LMDB may merge the pages below it.
    var removals: Int32 = 0
    /// The number of pages below a branch page that LMDB may have merged.
    var drained: Int32 = 0
    var isDrained = false
    /// Up to this distance, the neighbours of a drained page were checked.
    var covered: Int32 = 0
    /// Bytes used by all pages below; 0 unless all these pages were checked.
    var total: Int32 = 0
    var hasCheckedNext = false
    /// For a leaf: its values on overflow pages.
    var hasCheckedValues = false
    /// Whether the page was compared with the lists of free pages, if there are lists.
    var isCompared = false
    var reference: UInt = 0
  }

  private var slots: [Facts]
  private var count = 0
  private var write: UInt32 = 0
  /// The number of pages of the last commit whose records the current write has changed.
  private(set) var changed = 0
  /// Whether the lists of free pages are known. Then a write compares each page with the lists once.
  var hasLists = false

  init() { slots = [Facts](repeating: Facts(), count: 1024) }

  mutating func begin() {
    write &+= 1
    changed = 0
  }

  mutating func forget() {
    if count == 0 { return }
    count = 0
    slots = [Facts](repeating: Facts(), count: 1024)
  }

  @inline(__always)
  private func place(of page: UInt64) -> Int {
    let mask = slots.count &- 1
    var place = Int(truncatingIfNeeded: (page &* 0x9E37_79B9_7F4A_7C15) &>> 40) & mask
    while slots[place].page != page, slots[place].page != 0 { place = (place &+ 1) & mask }
    return place
  }

  enum Visit {
    /// The first visit since the pages were forgotten.
    case first
    /// The first visit of this write through the same record as in an earlier write, or since the lists are known.
    case same
    /// This write has visited the page through the same record, and nothing is left to check.
    case again
    /// In an earlier write another record led to the page.
    case moved
    /// Another record also leads to the page.
    case twice
  }

  /// Notes that the current write visits a page through the record at the address `reference`.
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
    if count * 2 >= slots.count {
      let former = slots
      slots = [Facts](repeating: Facts(), count: former.count * 2)
      for facts in former where facts.page != 0 { slots[self.place(of: facts.page)] = facts }
    }
    let place = place(of: page)
    let former = slots[place]
    slots[place] = Facts(page: page, write: write, isCompared: hasLists, reference: reference)
    if former.page == page { return former.reference == reference ? .same : .moved }
    count += 1
    return .first
  }

  /// - Precondition: this write has visited the page.
  subscript(page: UInt64) -> Facts {
    @inline(__always) _read { yield slots[place(of: page)] }
    @inline(__always) _modify { yield &slots[place(of: page)] }
  }

  /// Notes how many bytes of records the write adds to a page and removes from the page. The write has visited the page.
  mutating func note(added: Int, removed: Int, on page: UInt64) {
    let place = place(of: page)
    if slots[place].added == 0, slots[place].removed == 0 { changed += 1 }
    slots[place].added &+= Int32(clamping: added)
    slots[place].removed &+= Int32(clamping: removed)
  }
}
