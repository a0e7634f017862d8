import LMDB
import Synchronization

/// The counters of the namespaces that a write uses, and the counters of the store. Each record of counters is read once.
/// Changes are made in memory. ``WriteSession/saveCounters()`` writes each record once, so stored counters are exact.
struct Ledger: Sendable {
  struct Account: Sendable {
    var counters: NamespaceCounters
    var isNew: Bool
    var isChanged: Bool

    static let none = Account(counters: NamespaceCounters(), isNew: false, isChanged: false)
  }

  private var namespaces = LatestTable<NamespaceID, Account>(unused: Account.none)
  private(set) var store: StoreState
  private let committed: StoreState
  var expected: ExpectedEntry?
  /// The number of changes until now. After a failed write, the caller compares this number with the number before the write.
  private(set) var changes = 0

  init(_ store: StoreState) {
    self.store = store
    committed = store
  }

  /// The ledger for the next write, with the counters of the store, and of the namespace that was read or changed last.
  var next: Ledger {
    var ledger = Ledger(store)
    ledger.namespaces = namespaces
    ledger.namespaces.keepLatest {
      $0.isNew = false
      $0.isChanged = false
    }
    return ledger
  }

  /// Whether the names, ids, rules and tombstones are those of the last commit, so that caches may keep them after the batch.
  var hasCommittedGeneration: Bool { store.generation == committed.generation }

  func isLoaded(_ id: NamespaceID) -> Bool { namespaces.contains(id) }

  /// Takes over the counters of a namespace. `isCounted` means that their record is damaged and the entries were counted.
  mutating func add(_ counters: NamespaceCounters, of id: NamespaceID, isCounted: Bool) {
    namespaces.set(id, to: Account(counters: counters, isNew: false, isChanged: isCounted))
  }

  @inline(__always)
  func read<Property>(_ id: NamespaceID, _ property: (NamespaceCounters) -> Property) -> Property {
    namespaces.read(id, default: Account.none) { property($0.counters) }
  }

  func isNew(_ id: NamespaceID) -> Bool { namespaces.read(id, default: Account.none) { $0.isNew } }

  mutating func begin(_ id: NamespaceID, with counters: NamespaceCounters) {
    changes &+= 1
    namespaces.set(id, to: Account(counters: counters, isNew: true, isChanged: true))
  }

  mutating func drop(_ id: NamespaceID) {
    changes &+= 1
    namespaces.set(id, to: nil)
  }

  mutating func updateLoaded(_ id: NamespaceID, _ change: (inout NamespaceCounters) -> Void) {
    changes &+= 1
    learn(id, change)
  }

  /// Changes the state of an eviction policy. ``changes`` does not count this, because a refused write may leave it changed.
  mutating func learn(_ id: NamespaceID, _ change: (inout NamespaceCounters) -> Void) {
    namespaces.update(id) { loaded in
      loaded.isChanged = true
      change(&loaded.counters)
    }
  }

  mutating func updateStore(_ change: (inout StoreState) -> Void) {
    changes &+= 1
    change(&store)
  }

  func hasRecorded(_ now: Timestamp) -> Bool {
    Int64(bitPattern: store.lastStamp) == now.milliseconds && store.suspectSince == 0
  }

  /// Records the time of a trusted clock, even an earlier time: after a clock that was ahead, the next jump must be detected.
  mutating func recordTime(_ now: Timestamp) {
    store.lastStamp = UInt64(bitPattern: max(now.milliseconds, 0))
    store.suspectSince = 0
  }

  func visitChanged<Failure>(
    _ body: (NamespaceID, NamespaceCounters) throws(Failure) -> Void
  ) throws(Failure) {
    try namespaces.visit { id, account throws(Failure) in
      if account.isChanged { try body(id, account.counters) }
    }
  }

  var isStoreChanged: Bool { store != committed }
}

/// The share of one entry in the counters.
struct EntryWeight: Equatable {
  var size: Int
  /// The bytes of the record and of the chunks of the value.
  var stored: Int
  /// The position in the queue; 0 for a pinned entry, which is not in the queue.
  var queuePosition: UInt64
}

extension NamespaceCounters {
  @inline(__always)
  mutating func count(_ weight: EntryWeight, _ change: (UInt64, UInt64) -> UInt64 = (&+)) {
    entries = change(entries, 1)
    bytes = change(bytes, UInt64(weight.size))
    stored = change(stored, UInt64(weight.stored))
    if weight.queuePosition == 0 { pinned = change(pinned, 1) }
    queue.count(weight, change)
  }
}

/// The last counters that this process committed, so that the next write need not read records. Used under the writer lock.
final class CommittedLedger: Sendable {
  private let latest = Mutex<(serial: UInt64, next: Ledger)?>(nil)

  /// Takes the counters out, so that the write changes them without a copy. After a failed write, the next write reads records.
  func begin(
    _ transaction: borrowing WriteTransaction, _ seal: RecordSeal
  ) throws(LMDBError) -> Ledger {
    let former = transaction.formerSerial
    let known = latest.withLock { $0?.serial == former ? $0.take()?.next : nil }
    if let known { return known }
    if let state = try transaction.state(seal) { return Ledger(state) }
    return Ledger(try StoreState.rebuilt(in: transaction, seal: seal))
  }

  /// Called before the commit. If the commit fails, the serial number does not match later, so nobody uses the counters.
  func keep(_ next: Ledger, ofWrite serial: UInt64) { latest.withLock { $0 = (serial, next) } }
}
