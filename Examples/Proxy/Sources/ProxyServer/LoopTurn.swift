import NIOCore

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Gives way to other threads of the same core between the answers of an event loop.
///
/// A loop that always finds another request never sleeps, so the scheduler lets it run for milliseconds. Clients and other
/// loops on its core wait all that time. After a batch of answers it lets them run first.
///
/// Giving way next to a thread that never sleeps costs milliseconds. So a loop that has waited that long runs as long before
/// it gives way again: it keeps at least half of the time.
struct LoopTurn {
  /// Fewer cost throughput, more cost latency: see the decision on ready answers.
  static let batch = 32

  private let now: () -> NIODeadline
  private let giveWay: () -> Void
  private var answers = 0
  private var next = NIODeadline.uptimeNanoseconds(0)
  /// How often the loop has given way.
  private(set) var count = 0

  init(
    now: @escaping () -> NIODeadline = NIODeadline.now,
    giveWay: @escaping () -> Void = { sched_yield() }
  ) {
    self.now = now
    self.giveWay = giveWay
  }

  /// To be called after each answer.
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
