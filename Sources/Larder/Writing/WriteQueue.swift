import Dispatch
import Synchronization

/// Writes that wait to share a commit.
///
/// Whoever waits for a commit is joined by all who come meanwhile: the next transaction takes them together, in the order
/// in which they came, commits once, and tells each how its own went. A write that fails takes nothing of the others with
/// it. A group takes at most 1,000 writes or 8 MB.
///
/// Each caller waits until its own write is committed: whoever writes faster than the disk takes it is held up by that, and
/// no more is ever queued than there are callers.
final class WriteQueue: Sendable {
  static let largestGroup = 1000
  static let largestGroupSize = 8 << 20

  /// Whether the task that waits for a write still wants it.
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
    /// Whether somebody is about to take what waits.
    var isDraining = false
    var isClosed = false
  }
  private let state = Mutex(State())
  private let thread = DispatchQueue(label: "larder.writer")

  /// Writes under way outside the queue; while there are any, others do better to join.
  private let direct = Atomic<Int>(0)

  /// Whether somebody of this process writes just now.
  var isBusy: Bool {
    direct.load(ordering: .relaxed) > 0 || state.withLock { $0.isDraining || !$0.waiting.isEmpty }
  }

  func beginDirectWrite() { direct.add(1, ordering: .relaxed) }
  func endDirectWrite() { direct.subtract(1, ordering: .relaxed) }

  /// Whether all that came was taken, and is being written.
  var hasTaken: Bool { state.withLock { $0.isDraining && $0.waiting.isEmpty } }

  var waitingCount: Int { state.withLock { $0.waiting.count } }

  var isClosed: Bool { state.withLock { $0.isClosed } }

  /// Takes a write on; false once the queue is closed.
  func add(_ job: Job, engine: StoreEngine) -> Bool {
    enum Answer { case closed, cancelled, accepted }
    let answer: Answer = state.withLock { state in
      if state.isClosed { return .closed }
      // Cancelled before it came here, where nobody could find it.
      if job.ticket.isCancelled { return .cancelled }
      state.waiting.append(job)
      // Here, so that who closes afterwards waits for it.
      if !state.isDraining { thread.async { self.drain(engine) } }
      state.isDraining = true
      return .accepted
    }
    if answer == .cancelled { job.finish(CancellationError()) }
    return answer != .closed
  }

  /// Takes a write back: at once if it still waits, otherwise its group leaves it out if it is not being committed yet.
  func cancel(_ ticket: Ticket) {
    ticket.cancel()
    let job = state.withLock { state in
      state.waiting.firstIndex { $0.ticket === ticket }.map { state.waiting.remove(at: $0) }
    }
    job?.finish(CancellationError())
  }

  /// Accepts nothing more and waits for what was accepted.
  func close() {
    state.withLock { $0.isClosed = true }
    thread.sync {}
  }

  private func drain(_ engine: StoreEngine) {
    while let group = takeGroup() { engine.write(group) }
  }

  /// Nil, and no longer draining, when nothing waits.
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
        state.isDraining = false
        return nil
      }
      let group = Array(state.waiting[..<count])
      state.waiting.removeFirst(count)
      return group
    }
  }
}
