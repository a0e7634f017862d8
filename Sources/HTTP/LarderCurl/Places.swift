#if Curl
  import LarderSystem
  import Synchronization

  /// A number of places. Tasks wait for a place in the order in which they came.
  final class Places: Sendable {
    /// The number of free places. Only code under the lock of the waiters changes it.
    private let free: Atomic<Int>
    private let waiters = Waiters<Void>()

    init(_ count: Int) { free = Atomic(count) }

    /// Waits for a place. Each call that returns must be followed by one ``give()``.
    func take() async throws {
      let place: Void? = await waiters.wait(unless: {
        guard free.load(ordering: .relaxed) > 0 else { return nil }
        free.subtract(1, ordering: .relaxed)
        return ()
      })
      if place == nil { throw CancellationError() }
    }

    func give() { waiters.resumeFirst(with: ()) { free.add(1, ordering: .relaxed) } }
  }
#endif
