import LMDB
import LarderSystem
import Synchronization

/// The write buffer holds the entries that were written after the last commit, in memory that all processes of a store share.
///
/// A write of one entry appends a record, which every reader sees immediately. A commit first stores all records and then makes
/// its own changes. After the commit a new generation begins, which is empty. So all records of a generation change the data of
/// the same commit, the base. The records are in a file, so a killed process loses no record. When a transaction stores the
/// last records, it freezes the buffer until the transaction ends; until then other writers need their own transactions.
///
/// Everything in the file may be damaged. So offsets and lengths are checked before use, and each entry has a checksum.
final class WriteBuffer: Sendable {
  let table: SharedTable
  let layout: BufferLayout
  /// The lock for appends. Nil in a process that may only read the file.
  let lock: SharedLock?
  private let hook: (least: Int, then: @Sendable () -> Void)?
  /// Whether this process may append. If not, the process still reads and commits records of other processes.
  private let mayAppend: Bool
  private let isStopped = Atomic(false)
  private let isSuspended = Atomic(false)
  /// The generation of records that did not belong to the data when this process opened the store; 0 if there were none.
  private let foreignGeneration: UInt64
  private let commits = Atomic(0)
  private let bypasses = Atomic(0)
  private let losses = Atomic(0)
  /// The id of a namespace that had no room for a write after the last commit of this process, or 0.
  private let wantsRoom = Atomic<UInt32>(0)

  /// The longest time that an append waits for other appends. After this time the write uses a transaction.
  static let appendTimeout = Duration.milliseconds(2)
  static let largestValue = 16_384

  /// Nil if the directory has no file `buffer`. Throws ``LarderError/Code/cannotOpen`` if the file exists but cannot be mapped,
  /// because then this process would not see the records in the file.
  init?(of environment: Environment, store: [UInt8], _ options: Store.Options) throws(LarderError) {
    // If the store is durable, or was first opened without a buffer, there is no file.
    guard FileStatus.of(Self.path(in: environment)) != nil else { return nil }
    let table = Self.table(of: environment, store)
    guard table.openExisting() || table.openForReading(),
      let layout = BufferLayout(count: table.view.count)
    else { throw Self.unusable(Self.path(in: environment)) }
    table.keepCount()
    let slots = table.view.isWritable ? ProcessSlots.shared(in: environment.path) : nil
    if table.view.isWritable, slots == nil {
      throw Self.unusable(environment.path + "/lock.slots")
    }
    let lock = slots.map { SharedLock($0, place: BufferLayout.Place.lock) }
    self.table = table
    self.layout = layout
    self.lock = lock
    // An append runs no transforms, but the buffer has only values in their stored form. So with transforms nothing appends.
    mayAppend =
      Self.wanted(by: options) > 0 && options.transforms.isEmpty && !options.readOnly
      && !options.allowsForeignOwner
    hook = options.hooks.drainsAhead
    foreignGeneration = Self.foreignGeneration(table.view, of: environment, options)
    lock?.recover(table.view)
    _ = lock?.withLock(table.view, waitingAtMost: Self.appendTimeout) { index($0) }
  }

  private static func unusable(_ path: String) -> LarderError {
    LarderError(
      .cannotOpen, "\(path) cannot be used, and written entries depend on it",
      hint: "allow the process more files and memory, and let the file have one link and mode 0600")
  }

  /// If the log has at least this number of words (64 KB), a commit stores the records while processes still append. Only the
  /// last records are stored while no process appends.
  var leastAhead: Int { hook?.least ?? 8192 }
  func noteDrainedAhead() { hook?.then() }

  var appends: Bool {
    mayAppend && !isStopped.load(ordering: .relaxed) && !isSuspended.load(ordering: .relaxed)
  }

  func suspend() { isSuspended.store(true, ordering: .relaxed) }

  var statistics: Statistics.WriteBuffer {
    Statistics.WriteBuffer(
      size: Statistics.Tier(used: 8 * state.end, limit: 8 * layout.logSize),
      commits: commits.load(ordering: .relaxed), bypasses: bypasses.load(ordering: .relaxed),
      lost: losses.load(ordering: .relaxed))
  }

  /// Counts lost records. Stops the appends of all processes, so the next writes use transactions, which report the damage.
  func countLost(_ count: Int) {
    if count == 0 { return }
    losses.add(count, ordering: .relaxed)
    let table = table
    let view = table.view
    if view.isWritable { view.release(1, to: BufferLayout.Place.isClosed) }
  }

  func countBypass(in id: NamespaceID) {
    bypasses.add(1, ordering: .relaxed)
    wantsRoom.store(id.rawValue, ordering: .relaxed)
  }

  /// The namespace in which single writes need more room. A commit can make this room by eviction. Each call forgets the
  /// namespace.
  func takeCrowded() -> NamespaceID? {
    let id = wantsRoom.exchange(0, ordering: .relaxed)
    return id == 0 ? nil : NamespaceID(rawValue: id)
  }

  func stop() { isStopped.store(true, ordering: .relaxed) }

  static func path(in environment: Environment) -> String {
    environment.path + "/" + MappedFile.buffer.rawValue
  }

  static func table(of environment: Environment, _ store: [UInt8]) -> SharedTable {
    SharedTable(
      SharedTable.Format(file: .buffer, layout: 2, store: store) { BufferLayout(count: $0) != nil },
      of: environment)
  }

  @inline(__always)
  var state: BufferState {
    let table = table
    let state = BufferState(word: table.view.acquire(BufferLayout.Place.state))
    return state.generation == foreignGeneration ? state.empty : state
  }

  /// Waits until a running append has ended. All later appends see what the caller has changed before.
  func awaitAppend() {
    let table = table
    _ = lock?.withLock(table.view, waitingAtMost: Self.appendTimeout) { _ in }
  }

  var hasRecords: Bool { state.end > 0 }

  func base(of state: BufferState) -> UInt64 {
    let table = table
    return table.view.acquire(BufferLayout.Place.base + state.base)
  }

  /// Whether a snapshot already contains the records of `state`, or is even newer.
  func isContained(_ state: BufferState, in snapshot: UInt64) -> Bool {
    state.isFrozen && snapshot > base(of: state)
  }

  /// Stops the appends of all processes if the file is no longer in the directory, because a process that opens the store now
  /// would not see new records.
  private func checkPlace(_ view: borrowing SharedTable.View) {
    if view.isWritable, !table.isInPlace { view.release(1, to: BufferLayout.Place.isClosed) }
  }
}

// MARK: Commits

struct BufferTerms {
  var metadata: UInt64 = 0
  var room = BufferRoom(Limits(entries: 0, bytes: 0), used: Usage(entries: 0, bytes: 0))
  var pages = 0
  var isWatched = true
  /// Whether some entries have owners. If so, the removal of an owner removes other entries, too.
  var hasDependents = true
}

extension WriteBuffer {
  /// Stops the appends of all processes while a transaction after the commit `commit` is open. The caller holds `lock.write`.
  /// Nil if `commit` already contains the records, because a killed process has committed them.
  func freeze(on commit: UInt64, lockTimeout: Duration) throws(LMDBError) -> BufferState? {
    let table = table
    let frozen = lock?.withLock(table.view, waitingAtMost: lockTimeout) { view -> BufferState in
      index(view)
      let state = BufferState(word: view.acquire(BufferLayout.Place.state)).frozen
      if state.end > 0 { checkPlace(view) }
      view.release(state.word, to: BufferLayout.Place.state)
      return state
    }
    guard let frozen else { throw table.view.isWritable ? .busy : .closed }
    KillPoint.pass(7)
    return base(of: frozen) == commit ? frozen : nil
  }

  /// Ends the freeze, before another transaction begins. Returns true if the commit `newest` has taken over the records. If
  /// `keepsFrozen` is set, appends continue only after the next transaction.
  func thaw(
    newest: UInt64, in environment: Environment, _ terms: BufferTerms, keepsFrozen: Bool
  ) -> Bool {
    let table = table
    let view = table.view
    guard view.isWritable else { return false }
    let state = BufferState(word: view.acquire(BufferLayout.Place.state))
    guard state.isFrozen else { return false }
    if newest == base(of: state) {
      // The commit has failed, so the records stay for the next commit. Until then appends are refused: the disk may be full.
      view.store(0, wide: BufferLayout.Place.pages)
      view.release(state.thawed.word, to: BufferLayout.Place.state)
      return false
    }
    // LMDB may show the commit of a killed process only after the next commit. Until then readers take the records from the
    // buffer.
    guard Self.isVisible(newest, in: environment) else { return false }
    if state.end > 0 { commits.add(1, ordering: .relaxed) }
    isSuspended.store(false, ordering: .relaxed)
    begin(keepsFrozen ? state.next.frozen : state.next, on: newest, terms, view)
    return true
  }

  func refuse(lockTimeout: Duration) {
    let table = table
    _ = lock?.withLock(table.view, waitingAtMost: lockTimeout) { view in
      view.store(0, wide: BufferLayout.Place.pages)
    }
  }

  private static func isVisible(_ commit: UInt64, in environment: Environment) -> Bool {
    do throws(LMDBError) {
      return try environment.beginRead().id >= commit
    } catch {
      return false
    }
  }

  /// Begins a generation. If the process is killed during this call, the next transaction repeats the call.
  private func begin(
    _ state: BufferState, on commit: UInt64, _ terms: BufferTerms,
    _ view: borrowing SharedTable.View
  ) {
    KillPoint.pass(9)
    for index in 0..<BufferLayout.namespaceCount {
      view.store(0, wide: BufferLayout.namespace(index))
    }
    if state.needsEmptyTable {
      for slot in 0..<layout.slots { view.store(0, wide: BufferLayout.Place.table + slot) }
    }
    KillPoint.pass(10)
    view.store(0, wide: BufferLayout.Place.tail)
    KillPoint.pass(11)
    view.store(terms.metadata, wide: BufferLayout.Place.metadata)
    terms.room.save(at: BufferLayout.Place.room, view)
    view.store(UInt64(clamping: terms.pages), wide: BufferLayout.Place.pages)
    view.store(terms.isWatched ? 1 : 0, wide: BufferLayout.Place.watched)
    view.store(terms.hasDependents ? 1 : 0, wide: BufferLayout.Place.dependents)
    view.release(commit, to: BufferLayout.Place.base + state.base)
    KillPoint.pass(12)
    view.release(state.word, to: BufferLayout.Place.state)
    KillPoint.pass(13)
  }

  /// Makes the last record visible if its writer was killed after the record was complete. The caller owns the lock.
  func index(_ view: borrowing SharedTable.View) {
    let state = BufferState(word: view.acquire(BufferLayout.Place.state))
    let tail = view.wide(BufferLayout.Place.tail)
    guard tail > UInt64(state.end), tail <= UInt64(layout.logSize), !state.isFrozen,
      let record = BufferRecord(at: state.end, before: Int(tail), view, layout),
      record.isSealed(at: state.end, in: state, view, layout)
    else { return }
    withStackBytes(
      record.keyCount,
      {
        let start = layout.log + state.end + BufferRecord.headerSize
        view.copy(record.keyCount, wide: start, to: &$0)
      },
      { key in publish(record, of: key, at: state.end, in: state, view) })
  }

  /// Makes a complete record visible to readers. The caller owns the lock.
  func publish(
    _ record: BufferRecord, of key: Span<UInt8>, at offset: Int, in state: BufferState,
    _ view: borrowing SharedTable.View
  ) {
    let place = search(key, in: record.id, keyHash: record.keyHash, state, view).place
    view.release(
      BufferSlot(record.keyHash, state, offset: offset).word, to: BufferLayout.Place.table + place)
    KillPoint.pass(5)
    view.release(state.extended(to: offset + record.size).word, to: BufferLayout.Place.state)
  }
}
