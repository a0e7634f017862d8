/// The tree pages that were already checked, with the changes that the current write makes to each page or below it.
///
/// A write never changes the pages of the last commit: LMDB writes each changed page to another place, and this process itself
/// makes the new pages. So after a commit of this process, the earlier checks stay valid.
struct CheckedPages {
  struct Facts {
    var page: UInt64 = 0
    /// The number of the last write that used the page. The properties below belong to that write.
    var write: UInt32 = 0
    /// The bytes of records that the write has added to this page; in `removed`, the bytes that the write has removed.
    var added: Int32 = 0
    var removed: Int32 = 0
    /// For a branch page: the number of the write's removals that may have made LMDB merge child pages of this page.
    var removals: Int32 = 0
    /// For a branch page: the number of pages below this page that LMDB may have merged.
    var drained: Int32 = 0
    var isDrained = false
    /// For a page with `isDrained`, which LMDB may have merged: the distance in pages up to which its neighbours were checked.
    var covered: Int32 = 0
    /// The number of used bytes on all pages below this page; 0 if some of these pages were not checked.
    var total: Int32 = 0
    var hasCheckedNext = false
    /// For a leaf: whether its values on overflow pages were checked.
    var hasCheckedValues = false
    /// Whether the page was compared with the lists of free pages. False if the lists were not known at the last visit.
    var isCompared = false
    var reference: UInt = 0
  }

  private var slots = [Facts](repeating: Facts(), count: 1024)
  private var count = 0
  private var write: UInt32 = 0
  /// The number of pages of the last commit on which the current write has changed records.
  private(set) var changed = 0
  /// Whether the lists of free pages are known. If so, a write compares each visited page once with the lists.
  var hasLists = false

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
    /// No write has visited the page before, or ``forget()`` has removed the earlier visits.
    case first
    /// The write's first visit of the page, or its first visit with known lists. Earlier visits came through the same record.
    case same
    /// This write has already visited the page through the same record, and nothing more must be checked.
    case again
    /// In an earlier write, the page was visited through another record.
    case moved
    /// In this write, another record also leads to the page. Only damage can be the cause.
    case twice
  }

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

  /// - Precondition: the current write has visited the page.
  subscript(page: UInt64) -> Facts {
    @inline(__always) _read { yield slots[place(of: page)] }
    @inline(__always) _modify { yield &slots[place(of: page)] }
  }

  /// - Precondition: the current write has visited the page.
  mutating func note(added: Int, removed: Int, on page: UInt64) {
    let place = place(of: page)
    if slots[place].added == 0, slots[place].removed == 0 { changed += 1 }
    slots[place].added &+= Int32(clamping: added)
    slots[place].removed &+= Int32(clamping: removed)
  }
}
