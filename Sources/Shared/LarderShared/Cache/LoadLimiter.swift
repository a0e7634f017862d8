import LarderSystem
import Synchronization

/// Limits how many loads run at the same time while the tier cannot be used, because no leases then protect the origin.
final class LoadLimiter: Sendable {
  /// The number of loads that may still begin. Only code under the lock of the waiters changes this number.
  private let free: Atomic<Int>
  private let waiters = Waiters<Void>()

  init(_ most: Int) { free = Atomic(most) }

  /// Runs `body` as soon as fewer loads than the limit run. Waiting calls run in the order in which they came.
  func run<Result: Sendable>(_ body: () async throws -> Result) async throws -> Result {
    let place: Void? = await waiters.wait(unless: takePlace)
    guard place != nil else { throw CancellationError() }
    defer { waiters.resumeFirst(with: ()) { free.add(1, ordering: .relaxed) } }
    return try await body()
  }

  private func takePlace() -> Void? {
    guard free.load(ordering: .relaxed) > 0 else { return nil }
    free.subtract(1, ordering: .relaxed)
    return ()
  }
}
