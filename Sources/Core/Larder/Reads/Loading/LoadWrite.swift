import Dispatch
import LMDB
import LarderSystem
import Synchronization

/// The write of a loaded value, which the callers of the load need not wait for.
///
/// Writes are committed in the order in which they are queued, before every write that begins later in this process.
final class LoadWrite: Sendable {
  private struct State {
    var outcome: Result<Void, any Error>?
    var waiting: [CheckedContinuation<Void, any Error>] = []
    var lease: LoadLease?
  }

  /// The version that the load's lookup found.
  let base: BaseVersion
  let size: Int
  /// Whether the callers of the load may go on before the commit.
  var isWithinBounds: Bool { !isBeyondBounds.load(ordering: .relaxed) }
  private let isBeyondBounds = Atomic(false)
  /// Whether the write changed the store when it last ran.
  private let isStored = Atomic(false)
  /// The transaction that the write last ran in; 0 before it ran.
  private let transaction = Atomic<UInt64>(0)
  private let state = Mutex(State())
  private let isDone = DispatchSemaphore(value: 0)

  init(base: BaseVersion, size: Int) {
    self.base = base
    self.size = size
  }

  fileprivate func exceedBounds() { isBeyondBounds.store(true, ordering: .relaxed) }

  var isCommitted: Bool {
    let isComplete = state.withLock { state in
      if case .success = state.outcome { true } else { false }
    }
    return isComplete && isStored.load(ordering: .relaxed)
  }

  /// The write runs in this transaction, which may still fail.
  func run(in transaction: UInt64) { self.transaction.store(transaction, ordering: .relaxed) }

  /// The write has run, and was refused or not.
  fileprivate func hasRun(_ isStored: Bool) { self.isStored.store(isStored, ordering: .relaxed) }

  /// Whether a reader may be given the loaded value though its own lookup did not find it: the lookup was made before the
  /// commit, and in the same namespace.
  func mayAnswer(than lookup: BaseVersion, snapshot: UInt64) -> Bool {
    let transaction = transaction.load(ordering: .relaxed)
    return (transaction == 0 || snapshot < transaction)
      && (base.id == .store || base.id == lookup.id)
  }

  func complete(_ error: (any Error)?) {
    let outcome = error.map { Result.failure($0) } ?? .success(())
    let (waiting, lease) = state.withLock { state in
      state.outcome = outcome
      defer { (state.waiting, state.lease) = ([], nil) }
      return (state.waiting, state.lease)
    }
    lease?.end()
    for continuation in waiting { continuation.resume(with: outcome) }
    isDone.signal()
  }

  /// Ends the lease of the load when other processes can find the value, or never will.
  func endWhenComplete(_ lease: LoadLease) {
    let isComplete = state.withLock { state in
      if state.outcome == nil { state.lease = lease }
      return state.outcome != nil
    }
    if isComplete { lease.end() }
  }

  /// Suspends until the write is committed or has failed.
  func value() async throws {
    try await withCheckedThrowingContinuation {
      (continuation: CheckedContinuation<Void, any Error>) in
      let outcome = state.withLock { state in
        if state.outcome == nil { state.waiting.append(continuation) }
        return state.outcome
      }
      if let outcome { continuation.resume(with: outcome) }
    }
  }

  /// Suspends until the write is committed or has failed; ``value()`` tells which.
  func finish() async {
    do { try await value() } catch {
      // The load's task, and callers that wait for the commit, ask for the error themselves.
    }
  }

  /// Blocks the thread until the write is committed or has failed.
  func wait() {
    isDone.wait()
    isDone.signal()
  }
}

/// The loaded values of a store that wait for their commit.
final class LoadWrites: Sendable {
  /// Beyond these a load waits for its own commit, so that a store that cannot be written does not fill the memory.
  static let mostWrites = 1000
  static let mostBytes = 16 << 20

  private struct State {
    var writes: [ObjectIdentifier: LoadWrite] = [:]
    var bytes = 0
  }
  private let state = Mutex(State())
  private let count = Atomic<Int>(0)

  /// Without a lock, for readers that missed.
  var isEmpty: Bool { count.load(ordering: .acquiring) == 0 }

  func add(_ write: LoadWrite) {
    count.add(1, ordering: .acquiringAndReleasing)
    state.withLock { state in
      state.writes[ObjectIdentifier(write)] = write
      state.bytes += write.size
      if state.writes.count > Self.mostWrites || state.bytes > Self.mostBytes {
        write.exceedBounds()
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
    if isEmpty { return }
    for write in state.withLock({ Array($0.writes.values) }) { write.wait() }
  }
}

extension StoreEngine {
  /// Waits for the commit of every value that was loaded before, so that the caller's own write or count comes after it. Inside
  /// a write there is nothing to wait for: the queue is served after it. A forked child has no thread that commits them.
  func awaitLoadWrites() {
    if !environment.isForked, !environment.isWriting, !loadWrites.isEmpty { loadWrites.wait() }
  }

  /// Queues the write of a loaded value and returns at once; `completion` is called on the writer's thread.
  func enqueue<Result: Sendable>(
    _ write: LoadWrite, _ body: @escaping @Sendable (inout WriteBatch) throws -> Result?,
    completion: @escaping @Sendable (Result) -> Void
  ) {
    let queued = QueuedLoad(write, engine: self, body: body, completion: completion)
    loadWrites.add(write)
    if !queue.add(queued, engine: self) { queued.finish(error(.closed)) }
  }
}

/// The write of a loaded value in the queue.
private final class QueuedLoad<Result: Sendable>: QueuedWrite {
  private let load: LoadWrite
  private let engine: StoreEngine
  /// Returns nil if it is refused.
  private let body: @Sendable (inout WriteBatch) throws -> Result?
  private let completion: @Sendable (Result) -> Void
  private let result = Mutex<Result?>(nil)

  init(
    _ load: LoadWrite, engine: StoreEngine,
    body: @escaping @Sendable (inout WriteBatch) throws -> Result?,
    completion: @escaping @Sendable (Result) -> Void
  ) {
    self.load = load
    self.engine = engine
    self.body = body
    self.completion = completion
  }

  var size: Int { load.size }
  var isCancelled: Bool { false }

  func run(in batch: inout WriteBatch) throws {
    load.run(in: batch.snapshot + 1)
    let written = try body(&batch)
    result.withLock { $0 = written }
    load.hasRun(written != nil)
  }

  func finish(_ error: (any Error)?) {
    if error == nil, let result = result.withLock({ $0 }) { completion(result) }
    engine.loadWrites.remove(load)
    load.complete(error)
  }
}
