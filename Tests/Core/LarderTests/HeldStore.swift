import Dispatch
import Foundation
import TestSupport

@testable import Larder

extension Store {
  /// A temporary store with a long lock timeout, for tests in which a thread keeps the writer lock.
  static func patient(clock: any LarderClock = SystemClock()) throws -> Store {
    try .temporary(options: Options(clock: clock, lockTimeout: .ample))
  }
}

/// Lets a batch hold the writer lock while `body` starts writes. The writer thread has already taken one write and waits for
/// the lock, so all writes of `body` queue. The batch ends when `waiting` writes wait.
func whileHeld(
  _ store: Store, until waiting: Int, _ body: @escaping @Sendable () async throws -> Void
) async throws {
  try await whileHeld(store, until: { store.engine.writes.queue.waitingCount >= waiting }, body)
}

func whileHeld(
  _ store: Store, until isReady: @Sendable () -> Bool,
  _ body: @escaping @Sendable () async throws -> Void
) async throws {
  let held = DispatchSemaphore(value: 0)
  let goOn = DispatchSemaphore(value: 0)
  let holder = Thread {
    try? store.write { batch in
      try batch.set("held", for: "held", in: store.namespace("holder"))
      held.signal()
      goOn.wait()
    }
  }
  holder.start()
  await held.signalled()
  async let first: Void = store.namespace("holder").set("first", for: "first")
  try await waitUntil { store.engine.writes.queue.hasTaken }
  async let done: Void = body()
  try await waitUntil { isReady() }
  goOn.signal()
  try await first
  try await done
}

extension WriteQueue {
  /// Waits until `count` writes wait.
  func waitForWaiting(_ count: Int) async throws {
    try await waitUntil { waitingCount >= count }
  }
}

extension DispatchSemaphore {
  /// Waits for a signal without blocking a thread of a task.
  func signalled() async {
    await withCheckedContinuation { continuation in
      DispatchQueue.global().async {
        self.wait()
        continuation.resume()
      }
    }
  }
}
