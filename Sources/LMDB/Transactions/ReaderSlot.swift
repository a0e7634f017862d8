import CLMDB
import LarderSystem
import Synchronization

/// A reusable read transaction with the flag that tells whether a thread uses it.
///
/// Slots are 384 bytes apart, a multiple of 128, so that two reading threads do not share a pair of cache lines.
@safe struct ReaderSlot: ~Copyable {
  static let stride = 384
  static let idle: UInt32 = 0
  static let busy: UInt32 = 1
  /// Idle since the last sweep; the next sweep ends the transaction.
  static let resting: UInt32 = 2

  let index: Int
  /// Not at the slot's beginning: ThreadSanitizer notes a change of ``snapshot`` there.
  let state: Atomic<UInt32>
  var transaction: OpaquePointer?
  /// A struct of its own: a mutating call on the slot would overlap with another thread's look at ``state``.
  var snapshot: Snapshot
  /// Marks a snapshot that a forked child inherited: ending it there would end the parent's.
  let shared: UnsafeMutablePointer<ForkState>
  /// For a slot outside the pool: the number of such slots, decremented when the read ends.
  let extra: UnsafeMutablePointer<Atomic<Int>>?

  init(
    index: Int, names: [String], shared: UnsafeMutablePointer<ForkState>,
    extra: UnsafeMutablePointer<Atomic<Int>>?
  ) {
    snapshot = Snapshot(names: names)
    state = unsafe Atomic(extra == nil ? Self.idle : Self.busy)
    self.index = index
    unsafe self.transaction = nil
    unsafe self.shared = shared
    unsafe self.extra = extra
  }

  @inline(__always)
  var isInherited: Bool {
    unsafe shared.pointee.phase.load(ordering: .relaxed) == ForkState.forked
  }

  @inline(__always)
  func change(_ old: UInt32, to new: UInt32) -> Bool {
    state.compareExchange(expected: old, desired: new, ordering: .acquiring).exchanged
  }
}

extension ReaderSlot {
  /// The pages of the transaction's snapshot, and the trees of the named databases that were looked up in it.
  struct Snapshot {
    private(set) var pages = SnapshotPages.unreadable(0)
    /// The root of ``Database/firstNamed``, which most reads need; nil if it was not looked up in this snapshot.
    private(set) var firstNamed: Tree?
    private var named: [Tree?] = []
    private let names: [String]

    init(names: [String]) { self.names = names }

    mutating func show(_ pages: SnapshotPages) {
      self.pages = pages
      firstNamed = nil
      named.removeAll(keepingCapacity: true)
    }

    /// The root of a named database in the snapshot; nil if it cannot be reached.
    mutating func named(_ database: Database) -> Tree? {
      let index = Int(database.handle) - 2
      if index < named.count, let tree = named[index] { return tree }
      guard index < names.count,
        let tree = pages.table.tree(named: names[index], in: pages.main)
      else { return nil }
      if database == .firstNamed { firstNamed = tree }
      while named.count <= index { named.append(nil) }
      named[index] = tree
      return tree
    }
  }
}
