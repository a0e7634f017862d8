import Dispatch
import LarderSystem
import Synchronization

/// Writes that wait to share a commit (group commit).
///
/// The writes that arrive while a transaction runs form the next group: one transaction runs them in order of arrival,
/// commits once, and gives each caller its own outcome. A write that fails does not affect the others. A group has at
/// most 1,000 writes or 8 MB.
///
/// Each caller waits until its write is committed. So the queue never holds more writes than there are callers, and callers
/// cannot outrun the disk.
final class WriteQueue: Sendable {
  static let largestGroup = 1000
  static let largestGroupSize = 8 << 20

  /// Tells whether the task that waits for a write was cancelled.
  final class Ticket: Sendable {
    private let cancelled = Atomic(false)

    var isCancelled: Bool { cancelled.load(ordering: .relaxed) }

    func check() throws { if isCancelled { throw CancellationError() } }

    fileprivate func cancel() { cancelled.store(true, ordering: .relaxed) }
  }

  struct Job: Sendable {
    let ticket: Ticket
    var size: Int
    /// Runs again if the group's transaction has to.
    var body: @Sendable (inout WriteBatch) throws -> Void
    var finish: @Sendable ((any Error)?) -> Void
  }

  private struct State {
    var waiting: [Job] = []
    /// Whether the writer thread was asked to take what waits.
    var isDraining = false
    /// Whether a thread commits what waits.
    var isRunning = false
    var isClosed = false
  }
  private let state = Mutex(State())
  /// Waits for ever if the process can create no thread. Callers that block commit what waits themselves then.
  let thread = DispatchQueue(label: "larder.writer")

  /// Writes in progress outside the queue. While there are any, other writes join the queue.
  private let direct = Atomic<Int>(0)

  /// Whether a thread of this process is writing.
  var isBusy: Bool {
    direct.load(ordering: .relaxed) > 0 || state.withLock { $0.isDraining || !$0.waiting.isEmpty }
  }

  func beginDirectWrite() { direct.add(1, ordering: .relaxed) }
  func endDirectWrite() { direct.subtract(1, ordering: .relaxed) }

  /// Whether the last group is being written and nothing else waits.
  var hasTaken: Bool { state.withLock { $0.isDraining && $0.waiting.isEmpty } }

  var waitingCount: Int { state.withLock { $0.waiting.count } }

  var isClosed: Bool { state.withLock { $0.isClosed } }

  /// Accepts a write; false once the queue is closed.
  func add(_ job: Job, engine: StoreEngine) -> Bool {
    enum Answer { case closed, cancelled, accepted }
    let answer: Answer = state.withLock { state in
      if state.isClosed { return .closed }
      // It was cancelled before it was in the queue, where ``cancel(_:)`` would have found it.
      if job.ticket.isCancelled { return .cancelled }
      state.waiting.append(job)
      // Inside the lock, so that a later close waits for it.
      if !state.isDraining { thread.async { self.drain(engine) } }
      state.isDraining = true
      return .accepted
    }
    if answer == .cancelled { job.finish(CancellationError()) }
    return answer != .closed
  }

  /// Cancels a write: at once if it waits; if its group runs already, the group rolls back and runs without it, unless its
  /// commit has begun.
  func cancel(_ ticket: Ticket) {
    ticket.cancel()
    let job = state.withLock { state in
      state.waiting.firstIndex { $0.ticket === ticket }.map { state.waiting.remove(at: $0) }
    }
    job?.finish(CancellationError())
  }

  /// Refuses new writes and waits for the accepted ones.
  func close(_ engine: StoreEngine) {
    state.withLock { $0.isClosed = true }
    drain(engine)
    while state.withLock({ $0.isRunning }) { backOff(microseconds: 200) }
  }

  /// Commits what waits on the calling thread, unless another thread does.
  func drain(_ engine: StoreEngine) {
    let isFirst = state.withLock { state in
      defer { state.isRunning = true }
      return !state.isRunning
    }
    guard isFirst else { return }
    while let group = takeGroup() { engine.commit(group) }
  }

  /// The next group; nil when nothing waits, and then the thread stops draining.
  private func takeGroup() -> [Job]? {
    state.withLock { state in
      var size = 0
      var count = 0
      for job in state.waiting.prefix(Self.largestGroup) {
        size += job.size
        if count > 0, size > Self.largestGroupSize { break }
        count += 1
      }
      if count == 0 {
        (state.isDraining, state.isRunning) = (false, false)
        return nil
      }
      let group = Array(state.waiting[..<count])
      state.waiting.removeFirst(count)
      return group
    }
  }
}
