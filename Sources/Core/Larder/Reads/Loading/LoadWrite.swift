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
    var completion: (@Sendable () -> Void)?
    /// Whether the last run of the write changed the store.
    var isStored = false
    var outcome: Result<Void, any Error>?
    /// Keeps the value in the memory tier after the commit.
    var keeping: Task<Void, Never>?
    var waiting: [@Sendable (Result<Void, any Error>) -> Void] = []
  }

  let base: BaseVersion
  let size: Int
  /// When the value stops being fresh; nil if the load set no expiry.
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
  private let waiters = Waiters<Result<Void, any Error>>()

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
    state.withLock { if case .success = $0.outcome { $0.isStored } else { false } }
  }

  func run(in batch: inout WriteBatch) throws {
    // If this transaction fails, the write runs again and replaces the number.
    transaction.store(batch.snapshot + 1, ordering: .relaxed)
    let completion = try state.withLock { $0.body }?(&batch)
    state.withLock { ($0.completion, $0.isStored) = (completion, completion != nil) }
  }

  /// Whether a reader at `now` may get the value, although the reader's lookup in `snapshot` did not find the value.
  func mayAnswer(than lookup: BaseVersion, snapshot: UInt64, now: Timestamp) -> Bool {
    // The commit may take longer than the value's lifetime. An expired value answers no reader.
    if let end, now >= end { return false }
    let transaction = transaction.load(ordering: .relaxed)
    return (transaction == 0 || snapshot < transaction)
      && (base.id == .store || base.id == lookup.id)
  }

  func finish(_ error: (any Error)?) {
    // Uses a task, because the thread that commits must run no code of the user: no cost function, no deinitializer.
    let keeping = Task {
      let done = state.withLock { state in
        defer { (state.body, state.completion) = (nil, nil) }
        return (body: state.body, completion: state.completion)
      }
      withExtendedLifetime(done) { if error == nil { done.completion?() } }
    }
    engine.loads.writes.remove(self)
    let outcome = error.map { Result.failure($0) } ?? .success(())
    let waiting = state.withLock { state in
      (state.outcome, state.keeping) = (outcome, keeping)
      defer { state.waiting = [] }
      return state.waiting
    }
    for body in waiting { body(outcome) }
    waiters.resume(with: outcome)
  }

  /// Calls `body` with the outcome, immediately if the write is already finished.
  func whenFinished(_ body: @escaping @Sendable (Result<Void, any Error>) -> Void) {
    let outcome = state.withLock { state in
      if state.outcome == nil { state.waiting.append(body) }
      return state.outcome
    }
    if let outcome { body(outcome) }
  }

  func value() async throws {
    let outcome = await waiters.wait(unless: { state.withLock { $0.outcome } })
    await state.withLock { $0.keeping }?.value
    try (outcome ?? .failure(CancellationError())).get()
  }
}

final class LoadWrites: Sendable {
  /// Above these limits a load waits for its own commit. Otherwise loaded values could fill the memory while no write succeeds.
  static let mostWrites = 1000
  static let mostBytes = 16 << 20

  private struct State {
    var writes: [ObjectIdentifier: LoadWrite] = [:]
    var bytes = 0
  }
  private let state = Mutex(State())
  private let count = Atomic<Int>(0)

  /// Whether the queue is empty. Takes no lock, because every read that finds no value uses this property.
  var isEmpty: Bool { count.load(ordering: .acquiring) == 0 }

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

  func remove(_ write: LoadWrite) {
    state.withLock { state in
      guard state.writes.removeValue(forKey: ObjectIdentifier(write)) != nil else { return }
      state.bytes -= write.size
    }
    count.subtract(1, ordering: .acquiringAndReleasing)
  }

  /// Blocks the thread until every value that was loaded before this call is committed or has failed.
  func wait() {
    let unfinished = DispatchGroup()
    for write in state.withLock({ Array($0.writes.values) }) {
      unfinished.enter()
      write.whenFinished { _ in unfinished.leave() }
    }
    unfinished.wait()
  }
}

extension StoreEngine {
  /// Waits for the commits of all loaded values, so that these commits precede the caller's own write or count. Does not wait
  /// inside a write, because the commits follow that write. Does not wait in a forked child, which has no thread for commits.
  func awaitLoadWrites() {
    if !environment.isForked, !environment.isWriting, !loads.writes.isEmpty { loads.writes.wait() }
  }

  /// Queues writes of loaded values and returns immediately. The writes share a commit within the limits of a group commit.
  func enqueue(_ writes: [LoadWrite]) {
    for write in writes { loads.writes.add(write) }
    if !self.writes.queue.add(writes, engine: self) {
      for write in writes { write.finish(error(.closed)) }
    }
  }
}
