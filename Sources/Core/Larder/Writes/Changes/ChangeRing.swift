import LMDB
import LarderSystem

/// The file `changes`: a ring of the store's newest changes in the order of their commits.
///
/// A batch writes its changes into the slots after the head, where no reader reads. The batch notes the new head (the target)
/// and the number of its commit, then commits, and then sets the head. If the process is killed before it sets the head, the
/// next writer sets the head if the commit was made, else drops the target. The writer lock allows at most one target.
///
/// Readers read slots before the head without a lock. If the seal of a slot does not match, a writer has overtaken the reader.
struct ChangeRing {
  let words: SharedTable
  private let environment: Environment
  /// A fixed number of slots for tests; nil if the number depends on the size of the store.
  private let fixedSlots: Int?

  /// The least and the largest number of slots, which need 274 kB and 17 MB. The number is always a power of two.
  static let fewestSlots = 1024
  static let mostSlots = 65_536
  private static let share = 16

  enum Place {
    static let head = 0
    /// The head that is valid after the commit of `transaction`; 0 if no batch is between its changes and its commit.
    static let target = 1
    static let transaction = 2
    static let watched = 3
    /// Increases whenever changes were not published although a subscription existed. Random in a new file.
    static let gaps = 4
    static let leases = 8..<264
    static let slots = 512
  }

  init(of environment: Environment, store: [UInt8], slots: Int?) {
    self.environment = environment
    fixedSlots = slots
    words = SharedTable(.changes, layout: 3, store: store, of: environment) { count in
      let slots = Self.slots(in: count)
      return slots > 0 && slots <= Self.mostSlots && slots.nonzeroBitCount == 1
        && count == Self.count(slots)
    }
  }

  private static func count(_ slots: Int) -> Int {
    2 * (Place.slots + slots * ChangeRecord.slotCount)
  }

  private static func slots(in count: Int) -> Int {
    (count / 2 - Place.slots) / ChangeRecord.slotCount
  }

  var wantedSlots: Int {
    if let fixedSlots { return fixedSlots }
    let info = environment.info
    let fitting = info.pages * info.pageSize / Self.share / (8 * ChangeRecord.slotCount)
    return min(max(fitting, Self.fewestSlots).nextPowerOfTwo, Self.mostSlots)
  }

  var slots: Int { max(Self.slots(in: words.view.count), 0) }

  /// A new file begins with a random number of gaps. So each subscription notices that another file was deleted.
  func open() -> Bool {
    words.open(making: Self.count(wantedSlots)) {
      $0.store(.random(in: 1 ... .max), wide: Place.gaps)
    }
  }

  /// Replaces the file inside a write transaction, so that no other batch writes records. After an error, returns false and
  /// keeps the file. A lease that another process takes at the same moment may be lost; `ChangeFeed.hold` notices the loss.
  func grow(to slots: Int) -> Bool {
    words.replace(count: Self.count(slots)) { old, new in
      for place in 0..<Place.slots { new.store(old.wide(place), wide: place) }
      let head = old.wide(Place.head)
      for place in head - min(head, UInt64(Self.slots(in: old.count)))..<head {
        let (from, to) = (Self.slot(place, in: old.count), Self.slot(place, in: new.count))
        for word in 0..<ChangeRecord.slotCount { new.store(old.wide(from + word), wide: to + word) }
      }
    }
  }

  var isUsable: Bool { words.view.isWritable }

  var newestCommit: UInt64 { environment.lastTransaction }

  var head: UInt64 { load(Place.head) }

  func load(_ place: Int) -> UInt64 {
    let view = words.view
    return view.count > 0 ? view.acquire(place) : 0
  }

  /// Returns whether the word had the value `old` and was replaced. If the store was closed, returns true and writes nothing.
  func exchange(_ old: UInt64, for new: UInt64, at place: Int) -> Bool {
    let view = words.view
    return !view.isWritable || view.exchange(old, for: new, at: place)
  }

  func write(_ record: ChangeRecord, at place: UInt64) {
    let view = words.view
    guard view.isWritable else { return }
    let slot = Self.slot(place, in: view.count)
    for (index, word) in record.words.enumerated() { view.store(word, wide: slot + 1 + index) }
    view.release(record.seal(at: place), to: slot)
  }

  func prepare(_ target: UInt64, transaction: UInt64) {
    let view = words.view
    guard view.isWritable else { return }
    view.store(transaction, wide: Place.transaction)
    view.release(target, to: Place.target)
  }

  func publish(_ target: UInt64) {
    let head = head
    if head < target { _ = exchange(head, for: target, at: Place.head) }
    discard(target)
  }

  func discard(_ target: UInt64) { _ = exchange(target, for: 0, at: Place.target) }

  var unpublished: (target: UInt64, transaction: UInt64)? {
    let target = load(Place.target)
    if target == 0 { return nil }
    let transaction = load(Place.transaction)
    return load(Place.target) == target ? (target, transaction) : nil
  }

  /// Publishes or drops the target of a process that was killed. Must be called inside the write transaction `next`.
  func resolveUnpublished(before next: UInt64) {
    guard let (target, transaction) = unpublished else { return }
    if transaction < next { publish(target) } else { discard(target) }
  }

  /// If the head is higher than in any real store, sets the head to 0 and records a gap, because a higher head could overflow.
  func restartIfImpossible() {
    let head = head
    if head >= 1 << 62, exchange(head, for: 0, at: Place.head) { addGap() }
  }

  /// Records that the ring lacks some changes. Each subscription notices the new gap and then reports missed changes.
  func addGap() {
    while true {
      let gaps = load(Place.gaps)
      if exchange(gaps, for: gaps &+ 1, at: Place.gaps) { return }
    }
  }

  func read(_ place: UInt64) -> ChangeRecord? {
    let view = words.view
    guard view.count > 0 else { return nil }
    let slot = Self.slot(place, in: view.count)
    let seal = view.acquire(slot)
    guard let count = ChangeRecord.count(head: view.wide(slot + 1)) else { return nil }
    let words = (0..<count).map { view.wide(slot + 1 + $0) }
    return ChangeRecord(words, sealed: seal, at: place)
  }

  private static func slot(_ place: UInt64, in count: Int) -> Int {
    Place.slots + Int(place % UInt64(slots(in: count))) * ChangeRecord.slotCount
  }

  /// The end of the lease that ends last, on the machine's monotonic clock in milliseconds; 0 if there are no leases.
  var watchedUntil: UInt64 { load(Place.watched) }
}
