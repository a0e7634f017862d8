import Dispatch
import LMDB
import LarderSystem
import Synchronization

/// The write of a loaded value. Writes are committed in the order of queueing, before every later write of this process.
final class LoadWrite: QueuedWrite {
  /// Writes the value, and returns a closure to call after the commit. Returns nil if the value may not be stored.
  typealias Body = @Sendable (inout WriteBatch) throws -> (@Sendable () -> Void)?

  private struct State {
    var body: Body?
    /// Called after the commit; nil if the last run of the write stored nothing.
    var completion: (@Sendable () -> Void)?
    /// Whether the value was stored.
    var outcome: Result<Bool, any Error>?
    /// Keeps the value in the memory tier after the commit.
    var keeping: Task<Void, Never>?
    var waiting: [@Sendable () -> Void] = []
  }

  let base: BaseVersion
  let size: Int
  /// When the value stops being fresh; nil if this is not known, as for a time to idle, which begins at the commit.
  private let end: Timestamp?
  /// The hashes of the value's tags and owners. The removal of a tag or an owner also removes the value.
  let links: [UInt64]
  /// Whether the number of waiting writes is within the limits. If so, callers of the load need not wait for the commit.
  var isWithinBounds: Bool { !isBeyondBounds.load(ordering: .relaxed) }
  fileprivate let isBeyondBounds = Atomic(false)
  private let engine: StoreEngine
  /// The number of the transaction in which the write last ran; 0 before the first run.
  private let transaction = Atomic<UInt64>(0)
  private let state: Mutex<State>
  private let waiters = Waiters<Result<Bool, any Error>>()

  init(
    base: BaseVersion, size: Int, end: Timestamp?, links: [UInt64], engine: StoreEngine,
    _ body: @escaping Body
  ) {
    self.base = base
    self.size = size
    self.end = end
    self.links = links
    self.engine = engine
    state = Mutex(State(body: body))
  }

  var isCancelled: Bool { false }
  var mode: CommitMode { .standard }

  var isCommitted: Bool {
    if case .success(true) = state.withLock({ $0.outcome }) { true } else { false }
  }

  func run(in batch: inout WriteBatch) throws {
    // If this transaction fails, the write runs again and replaces the number.
    transaction.store(batch.snapshot + 1, ordering: .relaxed)
    let completion = try state.withLock { $0.body }?(&batch)
    state.withLock { $0.completion = completion }
  }

  /// Whether a reader at `now` may get the value, although the reader's lookup in `snapshot` did not find the value.
  func mayAnswer(than lookup: BaseVersion, snapshot: UInt64, now: Timestamp) -> Bool {
    // The commit may take longer than the value's lifetime. An expired value answers no reader.
    if let end, now >= end { return false }
    if case .failure = state.withLock({ $0.outcome }) { return false }
    let transaction = transaction.load(ordering: .relaxed)
    return (transaction == 0 || snapshot < transaction)
      && (base.id == .store || base.id == lookup.id)
  }

  func finish(_ error: (any Error)?) {
    let isStored = error == nil && state.withLock { $0.completion != nil }
    // Uses a task, because the thread that commits must run no code of the user: no cost function, no deinitializer.
    let keeping = Task {
      let done = state.withLock { state in
        defer { (state.body, state.completion) = (nil, nil) }
        return (body: state.body, completion: state.completion)
      }
      withExtendedLifetime(done) { if error == nil { done.completion?() } }
    }
    // A transaction without changes makes no commit, so the number of the transaction may be above all snapshots.
    let commit =
      isStored ? min(transaction.load(ordering: .relaxed), engine.environment.newestVisible) : 0
    engine.loads.writes.remove(self, storedIn: commit)
    let outcome = error.map { Result.failure($0) } ?? .success(isStored)
    let waiting = state.withLock { state in
      (state.outcome, state.keeping) = (outcome, keeping)
      defer { state.waiting = [] }
      return state.waiting
    }
    for body in waiting { body() }
    waiters.resume(with: outcome)
  }

  /// Calls `body` after the outcome, immediately if the write is already finished.
  func whenFinished(_ body: @escaping @Sendable () -> Void) {
    let isFinished = state.withLock { state in
      if state.outcome == nil { state.waiting.append(body) }
      return state.outcome != nil
    }
    if isFinished { body() }
  }

  func value() async throws {
    let outcome = await waiters.wait(unless: { state.withLock { $0.outcome } })
    await state.withLock { $0.keeping }?.value
    _ = try (outcome ?? .failure(CancellationError())).get()
  }
}

final class LoadWrites: Sendable {
  /// Above these limits a load waits for its own commit. Otherwise loaded values could fill the memory while no write succeeds.
  static let mostWrites = 1000
  static let mostBytes = 16 << 20

  private let state = Mutex((writes: [ObjectIdentifier: LoadWrite](), bytes: 0))
  private let count = Atomic<Int>(0)
  /// The number of the newest commit that stored a loaded value; 0 before the first such commit.
  private let newest = Atomic<UInt64>(0)

  /// Whether the queue is empty. Takes no lock, because every read that finds no value uses this property.
  var isEmpty: Bool { count.load(ordering: .acquiring) == 0 }

  /// Whether a loaded value was committed after the snapshot with this number. Such a value may be in no queue any more.
  func hasCommitted(after snapshot: UInt64) -> Bool { newest.load(ordering: .acquiring) > snapshot }

  func add(_ write: LoadWrite) {
    count.add(1, ordering: .acquiringAndReleasing)
    state.withLock { state in
      state.writes[ObjectIdentifier(write)] = write
      state.bytes += write.size
      if state.writes.count > Self.mostWrites || state.bytes > Self.mostBytes {
        write.isBeyondBounds.store(true, ordering: .relaxed)
      }
    }
  }

  /// - Parameter commit: the number of the commit that stored the value; 0 if the value was not stored.
  func remove(_ write: LoadWrite, storedIn commit: UInt64) {
    state.withLock { state in
      guard state.writes.removeValue(forKey: ObjectIdentifier(write)) != nil else { return }
      state.bytes -= write.size
    }
    // A reader that finds no waiting write must find the number of the commit.
    newest.max(commit, ordering: .acquiringAndReleasing)
    count.subtract(1, ordering: .acquiringAndReleasing)
  }

  /// A group that is empty when every value that was loaded before this call is committed or has failed.
  func unfinished() -> DispatchGroup {
    let group = DispatchGroup()
    for write in state.withLock({ Array($0.writes.values) }) {
      group.enter()
      write.whenFinished { group.leave() }
    }
    return group
  }
}

extension StoreEngine {
  /// Waits for the commits of all loaded values, so that these commits precede the caller's own write or count. Does not wait
  /// inside a write, because the commits follow that write. Does not wait in a forked child, which has no thread for commits.
  func awaitLoadWrites() {
    if environment.isForked || environment.isWriting || loads.writes.isEmpty { return }
    let unfinished = loads.writes.unfinished()
    // If the writer thread does not run, this thread commits the values, as in a write of a caller that blocks.
    while unfinished.wait(timeout: .now() + .milliseconds(100)) == .timedOut {
      writes.queue.drain(self) { unfinished.wait(timeout: .now()) == .success }
    }
  }

  /// Queues writes of loaded values and returns immediately. The writes share a commit within the limits of a group commit.
  func enqueue(_ writes: [LoadWrite]) {
    for write in writes { loads.writes.add(write) }
    if !self.writes.queue.add(writes, engine: self) {
      for write in writes { write.finish(error(.closed)) }
    }
  }
}
