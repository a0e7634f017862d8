import Dispatch
import LMDB
import LarderSystem
import Synchronization

protocol QueuedWrite: AnyObject, Sendable {
  var size: Int { get }
  var mode: CommitMode { get }
  /// Whether the caller has cancelled the write. Until the commit of a group begins, the group can run again without the write.
  var isCancelled: Bool { get }
  /// Makes the write in the write buffer and tells the caller the outcome. Returns false if only a transaction can do that.
  func append(in engine: StoreEngine) -> Bool
  /// Makes the changes of the write, in the transaction of a group. Called again if that transaction is repeated.
  func run(in batch: inout WriteBatch) throws
  /// Tells the caller the outcome once: nil after the commit or the append, otherwise the error.
  func finish(_ error: (any Error)?)
}

extension QueuedWrite {
  func append(in engine: StoreEngine) -> Bool { false }
  func checkCancellation() throws { if isCancelled { throw CancellationError() } }
}

/// A write as a value. The write can wait in the queue, share a transaction with other writes, and run again.
struct SharedWrite<Result: Sendable>: Sendable {
  var size = 0
  var mode = CommitMode.standard
  /// Whether the caller has already tried to make the write in the write buffer.
  var isTried = false
  var body: @Sendable (inout WriteBatch) throws -> Result
  /// Makes the write in the write buffer. Returns nil if only a transaction can make the write; the engine then runs `body`.
  var append: (@Sendable (StoreEngine) throws(LarderError) -> Result?)?
}

/// A write whose caller waits for the commit: a blocked thread or a suspended task.
final class CallerWrite<Result: Sendable>: QueuedWrite {
  private let write: SharedWrite<Result>
  private let outcome = Mutex<Swift.Result<Result, any Error>?>(nil)
  private let resume = Mutex<(@Sendable () -> Void)?>(nil)
  private let cancelled = Atomic(false)

  init(_ write: SharedWrite<Result>) { self.write = write }

  var size: Int { write.size }
  var mode: CommitMode { write.mode }
  var isCancelled: Bool { cancelled.load(ordering: .relaxed) }

  /// Must be called before the write joins the queue.
  func begin(_ resume: @escaping @Sendable () -> Void) { self.resume.withLock { $0 = resume } }

  var isFinished: Bool { resume.withLock { $0 == nil } }

  func cancel() { cancelled.store(true, ordering: .relaxed) }

  func append(in engine: StoreEngine) -> Bool {
    do {
      try checkCancellation()
      guard let result = try write.append?(engine) else { return false }
      outcome.withLock { $0 = .success(result) }
      finish(nil)
    } catch { finish(error) }
    return true
  }

  func run(in batch: inout WriteBatch) throws {
    let result = try write.body(&batch)
    outcome.withLock { $0 = .success(result) }
  }

  func finish(_ error: (any Error)?) {
    guard let resume = resume.withLock({ $0.take() }) else { return }
    if let error { outcome.withLock { $0 = .failure(error) } }
    resume()
  }

  var result: Result {
    // `outcome` is not nil: the write has set it while running, or ``finish(_:)`` has set it to the error.
    get throws { try outcome.withLock { $0! }.get() }
  }
}

/// The writes that wait for a common commit (group commit). The writes that arrive during a transaction form the next group: at
/// most 1,000 writes and 8 MB, or one larger write. One transaction runs the writes that the write buffer refuses, in the order
/// of arrival, and commits once. If a write of the group fails, the others are still made. Callers wait for the commit of their
/// write, so callers cannot write faster than the disk. Only loads do not wait, so ``LoadWrites`` limits these writes.
final class WriteQueue: Sendable {
  static let largestGroup = 1000
  static let largestGroupSize = 8 << 20

  struct State {
    var waiting: [any QueuedWrite] = []
    var isCommitting = false
    var isClosed = false
  }
  let state = Mutex(State())
  /// Whether the writer thread was asked to take the waiting writes. Changed only under the lock of the state. Every write
  /// reads this flag without the lock, so that only few writes need the lock.
  let isScheduled = Atomic(false)
  /// The writer thread. If the process cannot create the thread, blocking callers commit the waiting writes themselves.
  let thread = DispatchQueue(label: "larder.writer")

  private let direct = Atomic<Int>(0)

  var isBusy: Bool { direct.load(ordering: .relaxed) > 0 || isScheduled.load(ordering: .relaxed) }

  func beginDirectWrite() { direct.add(1, ordering: .relaxed) }
  func endDirectWrite() { direct.subtract(1, ordering: .relaxed) }

  /// Adds writes in their order; false if the queue is closed. A write that is already cancelled gets a `CancellationError`.
  func add(_ writes: [any QueuedWrite], engine: StoreEngine) -> Bool {
    let cancelled: [any QueuedWrite]? = state.withLock { state in
      if state.isClosed { return writes.isEmpty ? [] : nil }
      var cancelled: [any QueuedWrite] = []
      for write in writes {
        // ``withdraw(_:)`` could not find this write, which was not in the queue yet. So its cancellation is handled here.
        if write.isCancelled { cancelled.append(write) } else { state.waiting.append(write) }
      }
      // Asks the writer thread to take the waiting writes, still inside the lock. So a later close waits for that thread.
      if cancelled.count < writes.count, !isScheduled.exchange(true, ordering: .relaxed) {
        thread.async { self.drain(engine) }
      }
      return cancelled
    }
    for write in cancelled ?? [] { write.finish(CancellationError()) }
    return cancelled != nil
  }

  /// Removes a waiting write that was cancelled. A running group repeats without the write, if the commit has not begun.
  func withdraw(_ write: some QueuedWrite) {
    let isWaiting = state.withLock { state in
      guard let index = state.waiting.firstIndex(where: { $0 === write }) else { return false }
      state.waiting.remove(at: index)
      return true
    }
    if isWaiting { write.finish(CancellationError()) }
  }

  /// Waits for the commits of the waiting writes. Returns false if one commit takes longer than `Environment.writerTimeout`.
  func close(_ engine: StoreEngine) -> Bool {
    state.withLock { $0.isClosed = true }
    drain(engine)
    let environment = engine.environment
    var (newest, since) = (environment.lastTransaction, SuspendingClock.now)
    while state.withLock({ $0.isCommitting }) {
      if since.duration(to: .now) > environment.writerTimeout { return false }
      backOff(microseconds: 200)
      let commit = environment.lastTransaction
      if commit != newest { (newest, since) = (commit, .now) }
    }
    return true
  }

  /// Commits the waiting writes on the calling thread, until `isDone` returns true. Does nothing if another thread is already
  /// committing. The writer thread commits the rest, because under a steady load the queue may never be empty.
  func drain(_ engine: StoreEngine, until isDone: () -> Bool = { false }) {
    let isFirst = state.withLock { state in
      defer { state.isCommitting = true }
      return !state.isCommitting
    }
    guard isFirst else { return }
    while let group = takeGroup(engine, unless: isDone()) { engine.commit(group) }
  }

  private func takeGroup(_ engine: StoreEngine, unless isDone: Bool) -> [any QueuedWrite]? {
    state.withLock { state in
      // After a close no writes are added, and the close waits for all of them.
      if isDone && !state.isClosed || state.waiting.isEmpty {
        isScheduled.store(!state.waiting.isEmpty, ordering: .relaxed)
        if !state.waiting.isEmpty { thread.async { self.drain(engine) } }
        state.isCommitting = false
        return nil
      }
      var (count, size) = (0, 0)
      for write in state.waiting.prefix(Self.largestGroup) {
        if count > 0, size + write.size > Self.largestGroupSize { break }
        size += write.size
        count += 1
      }
      defer { state.waiting.removeFirst(count) }
      return Array(state.waiting.prefix(count))
    }
  }
}

struct Writes: ~Copyable, Sendable {
  let queue = WriteQueue()
  let committed = CommittedLedger()
  let fairShare = Mutex(FairShare())
  /// How many pages should be free when a batch that runs once begins. If a batch fails in a full file, the number rises to the
  /// need of this batch. Each smaller batch lowers the number.
  let pagesForBatches = Atomic(0)
  let settings = Mutex<(generation: UInt64, settings: StoreSettings)?>(nil)
}
