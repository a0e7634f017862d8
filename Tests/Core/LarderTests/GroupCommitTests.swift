import Dispatch
import Foundation
import TestSupport
import Testing

@testable import Larder

struct GroupCommitTests: StoreSuite {
  let fixture = StoreFixture()

  @Test(arguments: [3, 64])
  func `concurrent stores and reads succeed, and share a commit`(count: Int) async throws {
    let before = try store.statistics().file.transaction
    try await whileHeld(store, until: count) {
      try await inTasks(count) { task in
        try await notes.set("\(task)", for: "\(task)")
        let found: String? = try notes.value(for: "\(task)")
        #expect(found == "\(task)")
      }
    }
    #expect(try notes.count() == count)
    // The held batch, the write that waits for this batch, and the group of all other writes need at most one commit each.
    #expect(try store.statistics().file.transaction - before <= 4)
  }

  @Test(.timeLimit(.minutes(20)))
  func `blocking writes and closing need no thread of the queue`() async throws {
    // Simulates a process that could create no thread for the commits.
    store.engine.writes.queue.thread.suspend()
    defer { store.engine.writes.queue.thread.resume() }
    let holder = await LockHolder(store)
    let write = inThread { try notes.set("v", for: "k") }
    // The write waits in the queue. After 100 ms the calling thread commits the queue itself.
    try await waitUntil {
      store.engine.writes.queue.waitingCount == 1 || store.engine.writes.queue.hasTaken
    }
    holder.letGo()
    try await write.value
    #expect(try notes.text("k") == "v")
    try store.close()
  }

  @Test func `a task that is cancelled already writes nothing`() async throws {
    let cache = store.cache(TextCodec(), in: "notes")
    // After these writes the namespace is known, so a write of a task below would use the write buffer.
    for _ in 0..<3 { try await notes.set("x", for: "first") }
    let writes: [@Sendable () async throws -> Void] = [
      { try await notes.set("x", for: "a") }, { try await cache.set("x", for: "a") },
    ]
    for write in writes {
      let goOn = DispatchSemaphore(value: 0)
      let task = Task {
        await goOn.signalled()
        try await write()
      }
      task.cancel()
      goOn.signal()
      await #expect(throws: CancellationError.self) { try await task.value }
      #expect(try notes.text("a") == nil)
    }
  }

  @Test func `a version decides whether a value is replaced`() throws {
    #expect(try notes.replace(nil, with: [1], for: "a"))
    #expect(try !notes.replace(nil, with: [2], for: "a"))
    let version = try notes.entry(for: "a")!.version
    #expect(try notes.replace(version, with: [3], for: "a"))
    #expect(try !notes.replace(version, with: [4], for: "a"))
    #expect(try notes.bytes("a") == [3])
    try notes.touch("a", expires: .after(.seconds(1)))
    clock.advance(by: .seconds(1))
    #expect(try notes.replace(nil, with: [5], for: "a"))
  }

  @Test func `concurrent updates lose none`() async throws {
    try await inTasks(16) { _ in
      for _ in 0..<25 {
        try await notes.update("count") { bytes in
          let count = bytes.map { Int(String(decoding: $0, as: UTF8.self))! } ?? 0
          return Array("\(count + 1)".utf8)
        }
      }
    }
    #expect(try notes.text("count") == "400")
    try await notes.update("count") { _ in nil }
    #expect(try notes.count() == 0)
  }
}
