import LMDB
import LarderSystem
import Synchronization

/// The entries that were written after the last commit, in memory that all processes share (`Docs/Internals/WriteBuffer.md`).
/// Everything in the file may be damaged. So offsets and lengths are checked before use, and each entry has a checksum.
final class WriteBuffer: Sendable {
  let table: SharedTable
  let layout: BufferLayout
  /// The lock for appends. Nil in a process that may only read the file.
  let lock: SharedLock?
  /// A test's closure; see ``TestHooks/besideCommit``.
  let besideCommit: @Sendable () -> Void
  /// Whether this process may append. If not, the process still reads and commits records of other processes.
  private let mayAppend: Bool
  private let isStopped = Atomic(false)
  let isSuspended = Atomic(false)
  /// The boot of the machine and the data file that this process uses.
  let origin: [UInt64]
  /// Hashes keys with a secret of the store, so a client who chooses keys cannot choose one place for many keys.
  let places: KeyHash
  /// The generation of records that did not belong to the data when this process opened the store; 0 if there were none.
  private let foreignGeneration: UInt64
  let commits = Atomic(0)
  private let bypasses = Atomic(0)
  private let losses = Atomic(0)
  /// Whether, after the last ``shouldCommit()``, an append of this process has left less than a quarter of the log's room.
  let hasLittleRoom = Atomic(false)
  /// The id of a namespace that had no room for a write after the last commit of this process, or 0.
  private let wantsRoom = Atomic<UInt32>(0)

  /// The longest time that an append waits for other appends. After this time the write uses a transaction.
  static let appendTimeout = Duration.milliseconds(2)
  static let largestValue = 16_384
  static let largestFormer = 256 << 10

  /// Nil if the directory has no file `buffer`. Throws ``LarderError/Code/cannotOpen`` if the file exists but cannot be mapped,
  /// because then this process would not see the records in the file.
  init?(of environment: Environment, store: [UInt8], _ options: Store.Options) throws(LarderError) {
    // If the store is durable, or was first opened without a buffer, there is no file.
    guard FileStatus.of(Self.path(in: environment)) != nil else { return nil }
    let table = Self.table(of: environment, store)
    guard
      environment.mayWrite && table.openExisting() || options.isReadOnly && table.openForReading(),
      let layout = BufferLayout(count: table.view.count),
      let origin = Self.origin(of: environment, options)
    else { throw Self.unusable(Self.path(in: environment)) }
    table.keepCount()
    let slots = table.view.isWritable ? ProcessSlots.shared(in: environment.path) : nil
    environment.files.slots.withLock { $0 = slots }
    if table.view.isWritable, slots == nil { throw Self.unusable(environment.path + "/lock.slots") }
    let lock = slots.map { SharedLock($0, place: BufferLayout.Place.lock) }
    self.table = table
    self.layout = layout
    self.lock = lock
    self.origin = origin
    // A page cursor shows the first eight bytes of the store's identity to clients.
    places = KeyHash(store.span.word(at: 8), store.span.word(at: 8))
    // The buffer has values in their stored form, but an append runs no transforms. So a store with transforms never appends.
    mayAppend =
      Self.wanted(by: options, in: environment) > 0 && options.transforms.isEmpty
      && !options.isReadOnly
    besideCommit = options.hooks.besideCommit
    let state = BufferState(in: table.view)
    let isForeign = Self.isForeign(state, to: origin, table.view, environment)
    foreignGeneration = isForeign ? state.generation : 0
    lock?.recover(table.view)
    _ = lock?.withLock(table.view, waitingAtMost: Self.appendTimeout) { index($0) }
  }

  private static func unusable(_ path: String) -> LarderError {
    LarderError(
      .cannotOpen, "\(path) cannot be used, and written entries depend on it",
      hint: "allow the process more files and memory, and let the file have one link and mode 0600")
  }

  var appends: Bool {
    mayAppend && !isStopped.load(ordering: .relaxed) && !isSuspended.load(ordering: .relaxed)
  }

  var statistics: Statistics.WriteBuffer {
    Statistics.WriteBuffer(
      size: Statistics.Tier(
        used: 8 * logs(of: state).reduce(0) { $0 + $1.end }, limit: 16 * layout.logSize),
      commits: commits.load(ordering: .relaxed), bypasses: bypasses.load(ordering: .relaxed),
      lost: losses.load(ordering: .relaxed))
  }

  /// Counts lost records. Stops the appends of all processes, so the next writes use transactions, which report the damage.
  func countLost(_ count: Int) {
    if count == 0 { return }
    losses.add(count, ordering: .relaxed)
    close()
  }

  func countBypass(in id: NamespaceID) {
    bypasses.add(1, ordering: .relaxed)
    wantsRoom.store(id.rawValue, ordering: .relaxed)
  }

  /// The namespace in which single writes need more room, which a commit can make by eviction. Each call forgets the namespace.
  func takeCrowded() -> NamespaceID? {
    let id = wantsRoom.exchange(0, ordering: .relaxed)
    return id == 0 ? nil : NamespaceID(rawValue: id)
  }

  func stop() { isStopped.store(true, ordering: .relaxed) }

  static func path(in environment: Environment) -> String {
    environment.path + "/" + MappedFile.buffer.rawValue
  }

  static func table(of environment: Environment, _ store: [UInt8]) -> SharedTable {
    SharedTable(.buffer, layout: 5, store: store, of: environment) {
      BufferLayout(count: $0) != nil
    }
  }

  @inline(__always)
  var state: BufferState {
    let table = table
    return state(in: table.view)
  }

  /// The state without the records of other data.
  @inline(__always)
  func state(in view: borrowing SharedTable.View) -> BufferState {
    let state = BufferState(in: view)
    return isForeign(state) ? state.empty : state
  }

  func isForeign(_ state: BufferState) -> Bool { state.generation == foreignGeneration }

  /// Waits until a running append has ended. All later appends see what the caller changed before this call.
  func awaitAppend(atMost timeout: Duration = appendTimeout) {
    let table = table
    _ = lock?.withLock(table.view, waitingAtMost: timeout) { _ in }
  }

  var hasRecords: Bool { state.hasRecords }

  /// Whether a thread should commit the records: the active log is half full, or has taken most of the room. The commit makes
  /// room by eviction, while writers use the rest of the room. Forgets the lack of room, which the next append tests again.
  func shouldCommit() -> Bool {
    let state = state
    let hadLittleRoom =
      hasLittleRoom.load(ordering: .relaxed) && hasLittleRoom.exchange(false, ordering: .relaxed)
    return !state.hasOlder && (state.end >= layout.logSize / 2 || hadLittleRoom)
  }

  func base(of state: BufferState) -> UInt64 {
    let table = table
    return table.view.acquire(BufferLayout.Place.base + state.base)
  }

  /// The logs with records, the older log first.
  func logs(of state: BufferState) -> [BufferLog] {
    let older = state.hasOlder ? [olderLog(of: state)] : []
    let active = BufferLog(generation: state.generation, end: state.end)
    return (older + [active]).filter { $0.end > 0 }
  }

  func olderLog(of state: BufferState) -> BufferLog {
    let table = table
    let end = Int(clamping: table.view.wide(BufferLayout.Place.olderEnd))
    return BufferLog(generation: state.olderGeneration, end: min(end, layout.logSize))
  }

  /// The logs with records that the commit `commit` does not contain, the older log first. The commit contains a log if the
  /// committing process was killed before it could mark the log as committed.
  func logs(of state: BufferState, after commit: UInt64) -> [BufferLog] {
    guard let first = state.firstGeneration(after: commit, base: base(of: state)) else { return [] }
    return logs(of: state).filter { $0.generation >= first }
  }

  /// Stops all appends if the file is no longer in the directory: a process that opens the store now would not see new records.
  func checkPlace() { if !table.isInPlace { close() } }

  /// Stops the appends of all processes until a process makes a new file.
  private func close() {
    let table = table
    let view = table.view
    if view.isWritable { view.release(1, to: BufferLayout.Place.isClosed) }
  }
}

/// One of the two logs: the generation of its records, and the end of the log in words.
struct BufferLog: Equatable {
  let generation: UInt64
  let end: Int
}

extension WriteBuffer {
  /// Makes the last record visible if its writer was killed after the record was complete. The caller owns the lock.
  func index(_ view: borrowing SharedTable.View) {
    let state = BufferState(in: view)
    let tail = view.wide(BufferLayout.Place.tail)
    guard tail > UInt64(state.end), tail <= UInt64(layout.logSize), !state.isFrozen,
      !isForeign(state),
      let record = BufferRecord(
        at: state.end, before: Int(tail), of: state.generation, view, layout),
      record.isSealed(at: state.end, of: state.generation, view, layout)
    else { return }
    withStackBytes(
      record.keyCount,
      {
        let start = layout.log(of: state.generation) + state.end + BufferRecord.headerSize
        view.copy(record.keyCount, wide: start, to: &$0)
      }, { key in publish(record, of: key, at: state.end, in: state, view) })
  }

  /// Makes a complete record visible to readers. The caller owns the lock.
  func publish(
    _ record: BufferRecord, of key: Span<UInt8>, at offset: Int, in state: BufferState,
    _ view: borrowing SharedTable.View
  ) {
    let place = search(key, in: record.id, keyHash: record.keyHash, state.generation, view).place
    view.release(BufferSlot(record.keyHash, state.generation, offset: offset).word, to: place)
    KillPoint.pass(5)
    view.release(state.extended(to: offset + record.size).word, to: BufferLayout.Place.state)
  }
}
