import Dispatch
import Foundation
import Synchronization
import TestSupport

@testable import Larder

/// Holds the writer lock of a store: a batch on another thread lasts until the test calls `letGo`.
final class LockHolder: Sendable {
  private let release = DispatchSemaphore(value: 0)

  init(
    _ store: Store, writing change: @escaping @Sendable (inout WriteBatch) throws -> Void = { _ in }
  ) async {
    let held = DispatchSemaphore(value: 0)
    Thread.detachNewThread { [self] in
      try? store.write { batch in
        try change(&batch)
        held.signal()
        release.wait()
      }
    }
    await held.signalled()
  }

  func letGo() { release.signal() }
}

/// Lets a batch hold the writer lock while `body` starts writes. The writer thread has already taken one write and waits for
/// the lock, so all writes of `body` wait in the queue. The batch ends when at least `waiting` writes wait.
func whileHeld(
  _ store: Store, until waiting: Int, _ body: @escaping @Sendable () async throws -> Void
) async throws {
  try await whileHeld(store, until: { store.engine.writes.queue.waitingCount >= waiting }, body)
}

func whileHeld(
  _ store: Store, until isReady: @Sendable () -> Bool,
  _ body: @escaping @Sendable () async throws -> Void
) async throws {
  let holder = await LockHolder(store) { batch in
    try batch.set("held", for: "held", in: store.namespace("holder"))
  }
  async let first: Void = store.namespace("holder").set("first", for: "first")
  try await waitUntil { store.engine.writes.queue.hasTaken }
  async let done: Void = body()
  try await waitUntil { isReady() }
  holder.letGo()
  try await first
  try await done
}

func inThread(_ body: @escaping @Sendable () throws -> Void) -> Task<Void, any Error> {
  Task {
    try await withCheckedThrowingContinuation { continuation in
      Thread.detachNewThread { continuation.resume(with: Result { try body() }) }
    }
  }
}

extension WriteQueue {
  /// Whether a group is being written and no other write waits.
  var hasTaken: Bool {
    state.withLock { $0.waiting.isEmpty && isScheduled.load(ordering: .relaxed) }
  }

  var waitingCount: Int { state.withLock { $0.waiting.count } }

  var isClosed: Bool { state.withLock { $0.isClosed } }

  func waitForWaiting(_ count: Int) async throws { try await waitUntil { waitingCount >= count } }
}

extension DispatchSemaphore {
  /// Waits for a signal. Does not block a thread of the pool that runs Swift's tasks.
  func signalled() async {
    await withCheckedContinuation { continuation in
      DispatchQueue.global().async {
        self.wait()
        continuation.resume()
      }
    }
  }
}
