import NIOCore

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Yields the core to other threads between the answers of an event loop.
///
/// A loop that always finds another request never sleeps, so the scheduler lets it run for milliseconds. Clients and other
/// loops on its core wait all that time. So the loop yields after a batch of answers.
///
/// If another thread never sleeps, a yield may take milliseconds. So after a yield the loop runs at least as long as the yield
/// took. The loop thus keeps at least half of the time.
struct LoopTurn {
  /// A smaller batch lowers the throughput, and a larger batch raises the latency: see the decision on ready answers.
  static let batch = 32

  private let now: () -> NIODeadline
  private let giveWay: () -> Void
  private var answers = 0
  private var next = NIODeadline.uptimeNanoseconds(0)
  /// The number of yields.
  private(set) var count = 0

  init(
    now: @escaping () -> NIODeadline = NIODeadline.now,
    giveWay: @escaping () -> Void = { sched_yield() }
  ) {
    self.now = now
    self.giveWay = giveWay
  }

  /// Counts an answer, and yields after a batch if the next yield is due. Call it after each answer.
  mutating func countAnswer() {
    answers += 1
    guard answers >= Self.batch else { return }
    answers = 0
    let begin = now()
    guard begin >= next else { return }
    giveWay()
    count += 1
    let end = now()
    next = end + (end - begin)
  }
}
