import LarderSystem
import Synchronization

/// Bounds how many loads run at once while the tier, which usually shields the origin, cannot be used.
final class LoadLimiter: Sendable {
  /// How many more loads may begin. Only code under the lock of the waiters changes it.
  private let free: Atomic<Int>
  private let waiters = Waiters<Void>()

  init(_ most: Int) { free = Atomic(most) }

  /// Runs `body` as soon as fewer than the most loads run, in the order of the calls.
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
