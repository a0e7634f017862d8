import Dispatch
import LarderSystem
import Synchronization
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
        #expect(try notes.text("\(task)") == "\(task)")
      }
    }
    #expect(try notes.count() == count)
    // The held batch, the write that waits for this batch, and the group of all other writes make at most one commit each.
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
    // A count waits for the commits of loaded values.
    let cache = store.cache(TextCodec(), in: "notes")
    #expect(try await cache.value(for: "loaded") { "l" } == "l")
    #expect(try cache.count() == 2)
    try store.close()
  }

  @Test func `a caller that commits the queue itself stops after its own write`() throws {
    let (queue, runs) = (store.engine.writes.queue, Tally())
    queue.thread.suspend()
    defer { queue.thread.resume() }
    @Sendable func add() {
      let next = SharedWrite { _ in
        runs.add()
        if runs.value < 50 { add() }
      }
      _ = queue.add([CallerWrite(next)], engine: store.engine)
    }
    add()
    try notes.set("v", for: "k")
    #expect(runs.value < 50)
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

@Suite struct WaitersTests {
  private let waiters = Waiters<Int>()

  /// Starts a task that waits, and returns once the task waits.
  private func wait() async -> Task<Int?, Never> {
    let begun = Atomic(false)
    let task = Task { [waiters] in
      await waiters.wait {
        begun.store(true, ordering: .sequentiallyConsistent)
        return nil
      }
    }
    while !begun.load(ordering: .sequentiallyConsistent) { await Task.yield() }
    // The waiter checks its condition under the lock that `isEmpty` takes, so the loop below ends when the waiter is in the list.
    while waiters.isEmpty { await Task.yield() }
    return task
  }

  @Test func `the first that came is resumed first, and none if none waits`() async {
    let (first, second) = (await wait(), await wait())
    for number in 1...3 { waiters.resumeFirst(with: number) { #expect(number == 3) } }
    #expect(await first.value == 1)
    #expect(await second.value == 2)
  }

  @Test func `a cancelled task gets nothing, whether it waited or not`() async {
    let waiting = await wait()
    waiting.cancel()
    #expect(await waiting.value == nil)
    let calls = Atomic(0)
    let early = Task { [waiters] in
      while !Task.isCancelled { await Task.yield() }
      return await waiters.wait(
        unless: { 7 }, onCancel: { calls.add(1, ordering: .sequentiallyConsistent) })
    }
    early.cancel()
    #expect(await early.value == nil)
    #expect(calls.load(ordering: .sequentiallyConsistent) == 1)
    #expect(waiters.isEmpty)
  }
}
