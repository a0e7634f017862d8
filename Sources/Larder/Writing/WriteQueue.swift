import Dispatch
import Synchronization

/// Writes that wait to share a commit.
///
/// Whoever waits for a commit is joined by all who come meanwhile: the next transaction takes them together, in the order
/// in which they came, commits once, and tells each how its own went. A write that fails takes nothing of the others with
/// it. A group takes at most 1,000 writes or 8 MB; each caller waits for its own write, so that no more is ever queued than
/// there are callers.
final class WriteQueue: Sendable {
  static let largestGroup = 1000
  static let largestGroupSize = 8 << 20

  struct Job: Sendable {
    var number: UInt64
    var size: Int
    /// Runs again if the group's transaction has to.
    var body: @Sendable (inout Batch) throws -> Void
    var finish: @Sendable ((any Error)?) -> Void
  }

  private struct State {
    var waiting: [Job] = []
    var next: UInt64 = 0
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

  func nextNumber() -> UInt64 {
    state.withLock { state in
      state.next += 1
      return state.next
    }
  }

  /// Takes a write on; false once the queue is closed.
  func add(_ job: Job, core: StoreCore) -> Bool {
    let (isAccepted, isFirst) = state.withLock { state in
      if state.isClosed { return (false, false) }
      state.waiting.append(job)
      defer { state.isDraining = true }
      return (true, !state.isDraining)
    }
    if isFirst { thread.async { self.drain(core) } }
    return isAccepted
  }

  /// Takes a write back if it has not begun.
  func cancel(_ number: UInt64) {
    let job = state.withLock { state in
      state.waiting.firstIndex { $0.number == number }.map { state.waiting.remove(at: $0) }
    }
    job?.finish(CancellationError())
  }

  /// Accepts nothing more and waits for what was accepted.
  func close() {
    state.withLock { $0.isClosed = true }
    thread.sync {}
  }

  private func drain(_ core: StoreCore) {
    while let group = takeGroup() { core.write(group) }
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
