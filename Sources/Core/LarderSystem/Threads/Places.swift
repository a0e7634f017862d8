import Synchronization

/// A number of places for tasks. A task waits until a place is free, in the order of the calls.
package final class Places: Sendable {
  /// The number of free places. Only code under the lock of the waiters changes this number.
  private let free: Atomic<Int>
  private let waiters = Waiters<Void>()

  package init(_ most: Int) { free = Atomic(most) }

  package var areTaken: Bool { free.load(ordering: .relaxed) <= 0 }

  /// Waits for a place and takes it. Returns false if the task is cancelled: it then has no place.
  package func take() async -> Bool {
    await waiters.wait(unless: { () -> Void? in
      if areTaken { return nil }
      free.subtract(1, ordering: .relaxed)
      return ()
    }) != nil
  }

  package func release() { waiters.resumeFirst(with: ()) { free.add(1, ordering: .relaxed) } }
}
