import LMDB
import LarderSystem

/// The file `changes`: the newest changes of the store, in the order of their commits, for whoever watches.
///
/// A batch writes its changes into the slots behind the head, which nobody reads, says how far they go and with which
/// commit they count, commits, and moves the head. Whoever writes next sees to it that a head which a killed process has
/// left behind is moved, or that what was never committed is forgotten: writers have the store's write lock, so there is
/// at most one such case at a time. Moving the head twice does nothing.
///
/// A reader is bounded by nothing but the head: what it reads counts only if the slot's seal fits, and otherwise it was
/// overtaken.
struct ChangeRing {
  let words: SharedTable
  let slots: Int

  static let usualSlots = 65_536

  /// Words of 64 bits in front of the slots.
  private enum Place {
    /// How many changes were ever published.
    static let head = 0
    /// Where the head goes once the transaction beside it is committed; 0 if none is under way.
    static let target = 1
    static let transaction = 2
    /// Until when somebody watches.
    static let watched = 3
    /// How many commits there were that nobody collected, though somebody watched when they were made.
    static let gaps = 4
    static let leases = 8
    static let slots = 512
  }

  static let leaseCount = 256

  init(of environment: Environment, store: [UInt8], slots: Int = usualSlots) {
    self.slots = slots
    let count = 2 * (Place.slots + slots * ChangeRecord.slotCount)
    words = SharedTable(
      SharedTable.Format(file: .changes, layout: 1, store: store) { $0 == count },
      of: environment)
  }

  /// Maps the file, made if there is none; false if it cannot be had.
  func open() -> Bool {
    words.open(making: 2 * (Place.slots + slots * ChangeRecord.slotCount))
  }

  /// Whether there is a file, and the store is open.
  var isUsable: Bool { words.view.isWritable }

  /// How far the ring is. Another mark says that there is something to see.
  struct AccessStats: Equatable {
    var gaps: UInt64
    var head: UInt64
  }

  var mark: AccessStats {
    // A commit that left a gap may have been followed by others, so the gaps come first.
    let gaps = load(Place.gaps)
    return AccessStats(gaps: gaps, head: head)
  }

  var head: UInt64 { load(Place.head) }

  private func load(_ place: Int) -> UInt64 {
    let view = words.view
    return view.count > 0 ? view.acquire(place) : 0
  }

  /// False if another value was there; in a store that was closed meanwhile nothing matters any more.
  private func exchange(_ old: UInt64, for new: UInt64, at place: Int) -> Bool {
    let view = words.view
    return !view.isWritable || view.exchange(old, for: new, at: place)
  }

  // MARK: Writing

  func write(_ record: ChangeRecord, at place: UInt64) {
    let view = words.view
    guard view.isWritable else { return }
    let slot = slot(place)
    for (index, word) in record.words.enumerated() { view.store(word, wide: slot + 1 + index) }
    view.release(record.seal(at: place), to: slot)
  }

  /// Says what will count once `transaction` is committed.
  func prepare(_ target: UInt64, transaction: UInt64) {
    let view = words.view
    guard view.isWritable else { return }
    view.store(transaction, wide: Place.transaction)
    view.release(target, to: Place.target)
  }

  /// Moves the head to `target`, unless that has happened.
  func publish(_ target: UInt64) {
    let head = head
    if head < target { _ = exchange(head, for: target, at: Place.head) }
    takeBack(target)
  }

  func takeBack(_ target: UInt64) {
    _ = exchange(target, for: 0, at: Place.target)
  }

  /// What a writer has prepared and not published.
  var unpublished: (target: UInt64, transaction: UInt64)? {
    let target = load(Place.target)
    if target == 0 { return nil }
    let transaction = load(Place.transaction)
    return load(Place.target) == target ? (target, transaction) : nil
  }

  /// Ends what a process that was killed has left. Called inside write transaction `next`.
  func settle(before next: UInt64) {
    guard let (target, transaction) = unpublished else { return }
    if transaction < next { publish(target) } else { takeBack(target) }
  }

  /// A batch began when nobody watched, and was committed when somebody did.
  func addGap() {
    while true {
      let gaps = load(Place.gaps)
      if exchange(gaps, for: gaps &+ 1, at: Place.gaps) { return }
    }
  }

  // MARK: Reading

  /// The record at a place before the head; nil if the slot has been written over since.
  func read(_ place: UInt64) -> ChangeRecord? {
    let view = words.view
    guard view.count > 0 else { return nil }
    let slot = slot(place)
    let seal = view.acquire(slot)
    guard let count = ChangeRecord.count(head: view.wide(slot + 1)) else { return nil }
    let words = (0..<count).map { view.wide(slot + 1 + $0) }
    return ChangeRecord(words, sealed: seal, at: place)
  }

  private func slot(_ place: UInt64) -> Int {
    Place.slots + Int(place % UInt64(slots)) * ChangeRecord.slotCount
  }

  // MARK: Leases

  /// Until when somebody watches, on the machine's monotonic clock in milliseconds; 0 for nobody.
  var watchedUntil: UInt64 { load(Place.watched) }

  /// Nobody renewed what `until` says: from now on a writer need not look at the clock.
  func forget(_ until: UInt64) {
    _ = exchange(until, for: 0, at: Place.watched)
  }

  func lease(_ index: Int) -> UInt64 { load(Place.leases + index) }

  func exchangeLease(_ index: Int, _ old: UInt64, for new: UInt64) -> Bool {
    exchange(old, for: new, at: Place.leases + index)
  }

  func exchangeWatched(_ old: UInt64, for new: UInt64) -> Bool {
    exchange(old, for: new, at: Place.watched)
  }
}
