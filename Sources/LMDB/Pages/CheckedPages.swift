/// The pages of trees that were checked, with what the write under way has done below them.
///
/// LMDB does not write to a page of the last commit before that commit is two commits old. New pages come from this process
/// itself. So a checked page stays checked from one commit of this process to the next.
struct CheckedPages {
  struct Facts {
    var page: UInt64 = 0
    /// The number of the write that the following properties belong to.
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
    /// The address of the key in front of the page, in the branch that led to it; 0 for the first page of a level.
    var separator: UInt = 0
  }

  private var slots: [Facts]
  private var count = 0
  private var write: UInt32 = 0

  init() { slots = [Facts](repeating: Facts(), count: 1024) }

  /// Begins another write, on the commit that the last write made or found.
  mutating func begin() { write &+= 1 }

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

  func contains(_ page: UInt64) -> Bool { slots[place(of: page)].page == page }

  mutating func insert(_ page: UInt64, separator: UInt) {
    if count * 2 >= slots.count { grow() }
    let place = place(of: page)
    if slots[place].page != page {
      slots[place] = Facts(page: page, write: write, separator: separator)
      count += 1
    }
  }

  /// - Precondition: the page was inserted.
  func separator(of page: UInt64) -> UInt { slots[place(of: page)].separator }

  /// - Precondition: the page was inserted.
  mutating func setSeparator(_ separator: UInt, of page: UInt64) {
    slots[place(of: page)].separator = separator
  }

  /// - Precondition: the page was inserted.
  subscript(page: UInt64) -> Facts {
    get {
      var facts = slots[place(of: page)]
      if facts.write != write {
        facts = Facts(page: page, write: write, separator: facts.separator)
      }
      return facts
    }
    set { slots[place(of: page)] = newValue }
  }

  /// Notes that the write under way adds bytes to the records of a page, and removes others.
  ///
  /// - Precondition: the page was inserted.
  mutating func note(added: Int, removed: Int, on page: UInt64) {
    let place = place(of: page)
    if slots[place].write != write {
      slots[place] = Facts(page: page, write: write, separator: slots[place].separator)
    }
    slots[place].added &+= Int32(clamping: added)
    slots[place].removed &+= Int32(clamping: removed)
  }

  private mutating func grow() {
    let former = slots
    slots = [Facts](repeating: Facts(), count: former.count * 2)
    for facts in former where facts.page != 0 { slots[place(of: facts.page)] = facts }
  }
}
