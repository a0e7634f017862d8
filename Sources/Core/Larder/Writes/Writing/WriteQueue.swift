import Dispatch
import LarderSystem
import Synchronization

protocol QueuedWrite: AnyObject, Sendable {
  var size: Int { get }
  var mode: CommitMode { get }
  /// Whether the caller has cancelled the write. A group whose commit has not begun runs again without a cancelled write.
  var isCancelled: Bool { get }
  /// Runs in the transaction of a group, and again if that transaction is repeated.
  func run(in batch: inout WriteBatch) throws
  /// Called once: with nil after the commit, otherwise with the error.
  func finish(_ error: (any Error)?)
}

extension QueuedWrite {
  func checkCancellation() throws { if isCancelled { throw CancellationError() } }
}

/// Writes that wait to share a commit (group commit).
///
/// The writes that arrive during a transaction form the next group: at most 1,000 writes and 8 MB, or one larger write. One
/// transaction runs them in the order of arrival and commits once. A failed write does not affect the other writes.
///
/// Callers of this queue wait for the commit, so they cannot write faster than the disk. Only loads do not wait;
/// ``LoadWrites`` limits their writes.
final class WriteQueue: Sendable {
  static let largestGroup = 1000
  static let largestGroupSize = 8 << 20

  private struct State {
    var waiting: [any QueuedWrite] = []
    var waitingSize = 0
    var isCommitting = false
    var isClosed = false
  }
  private let state = Mutex(State())
  /// Whether the writer thread was asked to take the waiting writes. The flag changes under the lock of the state. Every write
  /// reads the flag, and so takes that lock no more often than necessary.
  private let isScheduled = Atomic(false)
  /// Never runs if the process can create no thread. Then blocking callers commit the waiting writes themselves.
  let thread = DispatchQueue(label: "larder.writer")

  /// The number of current writes outside the queue. While there are any, other writes join the queue.
  private let direct = Atomic<Int>(0)

  var isBusy: Bool {
    direct.load(ordering: .relaxed) > 0 || isScheduled.load(ordering: .relaxed)
  }

  func beginDirectWrite() { direct.add(1, ordering: .relaxed) }
  func endDirectWrite() { direct.subtract(1, ordering: .relaxed) }

  /// Whether the last group is being written and no other write waits; for tests.
  var hasTaken: Bool {
    state.withLock { $0.waiting.isEmpty && isScheduled.load(ordering: .relaxed) }
  }

  var waitingCount: Int { state.withLock { $0.waiting.count } }

  var isClosed: Bool { state.withLock { $0.isClosed } }

  /// Accepts consecutive writes; false once the queue is closed. A write that is cancelled already gets a `CancellationError`.
  func add(_ writes: [any QueuedWrite], engine: StoreEngine) -> Bool {
    let cancelled: [any QueuedWrite]? = state.withLock { state in
      if state.isClosed { return writes.isEmpty ? [] : nil }
      var cancelled: [any QueuedWrite] = []
      for write in writes {
        // This write was not yet in the queue, where ``withdraw(_:)`` would have found it.
        if write.isCancelled {
          cancelled.append(write)
        } else {
          state.waiting.append(write)
          state.waitingSize += write.size
        }
      }
      if cancelled.count < writes.count { schedule(engine) }
      return cancelled
    }
    for write in cancelled ?? [] { write.finish(CancellationError()) }
    return cancelled != nil
  }

  /// Lets the writer thread take the waiting writes. Called inside the lock, so that a later close waits for that thread.
  private func schedule(_ engine: StoreEngine) {
    if !isScheduled.exchange(true, ordering: .relaxed) { thread.async { self.drain(engine) } }
  }

  /// Removes a cancelled write that still waits. If its group already runs, the group rolls back and runs without the write,
  /// unless its commit has begun.
  func withdraw(_ write: some QueuedWrite) {
    let isWaiting = state.withLock { state in
      guard let index = state.waiting.firstIndex(where: { $0 === write }) else { return false }
      state.waiting.remove(at: index)
      state.waitingSize -= write.size
      return true
    }
    if isWaiting { write.finish(CancellationError()) }
  }

  func close(_ engine: StoreEngine) {
    state.withLock { $0.isClosed = true }
    drain(engine)
    while state.withLock({ $0.isCommitting }) { backOff(microseconds: 200) }
  }

  /// Commits the waiting writes on the calling thread, unless another thread does it already.
  func drain(_ engine: StoreEngine) {
    let isFirst = state.withLock { state in
      defer { state.isCommitting = true }
      return !state.isCommitting
    }
    guard isFirst else { return }
    while let group = takeGroup() { engine.commit(group) }
  }

  /// The next group. Nil if no write waits; then this thread commits no further group.
  private func takeGroup() -> [any QueuedWrite]? {
    state.withLock { state in
      if state.waiting.isEmpty {
        isScheduled.store(false, ordering: .relaxed)
        state.isCommitting = false
        return nil
      }
      var group = state.waiting
      if group.count <= Self.largestGroup, state.waitingSize <= Self.largestGroupSize {
        state.waiting = []
        state.waiting.reserveCapacity(group.count)
        state.waitingSize = 0
        return group
      }
      var (count, size) = (0, 0)
      for write in group.prefix(Self.largestGroup) {
        if count > 0, size + write.size > Self.largestGroupSize { break }
        size += write.size
        count += 1
      }
      state.waiting.removeFirst(count)
      state.waitingSize -= size
      group.removeSubrange(count...)
      return group
    }
  }
}

/// The parts that all writes of this process share, and the facts that one write leaves to the next write.
struct Writes: ~Copyable, Sendable {
  let queue = WriteQueue()
  let committed = CommittedLedger()
  let fairShare = FairShare()
  /// The number of free pages with which a batch that runs once should begin: an earlier batch in a full data file needed them.
  let pagesForBatches = Atomic(0)
  let settings = Mutex<(generation: UInt64, settings: StoreSettings)?>(nil)
}
