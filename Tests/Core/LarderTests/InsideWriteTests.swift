import Dispatch
import Foundation
import TestSupport
import Testing

@testable import Larder

@Suite(.timeLimit(.minutes(5))) struct InsideWriteTests: StoreSuite {
  let fixture = StoreFixture()

  @Test func `every write inside a write throws, and the outer one is committed`() throws {
    let cache = store.cache(of: Int.self, in: "cache", rules: Rules(limits: Limits(entries: 10)))
    try notes.set("1", for: "k")
    let calls: [(String, () throws -> Void)] = [
      ("set", { try notes.set("2", for: "k") }), ("set of a cache", { try cache.set(1, for: "k") }),
      ("setIfAbsent", { try notes.setIfAbsent("2", for: "j") }),
      ("update", { try notes.update("k") { $0 } }), ("remove", { try notes.remove("k") }),
      ("touch", { try notes.touch("k") }), ("pin", { try notes.pin("k") }),
      ("clear", { try notes.clear() }), ("clear of the store", { try store.clear() }),
      ("rename", { try store.rename("notes", to: "other") }), ("purge", { try store.purge() }),
      ("purge of a namespace", { try notes.purge() }),
      ("invalidate", { try store.invalidate(tag: "t") }),
      ("declare", { try store.declare(Rules(), for: "notes") }),
      ("declare of the store", { try store.declare(StoreLimits(entries: 5)) }),
      ("override", { try store.override(Rules.Overrides(jitter: 0.5), for: "notes") }),
      ("reset", { try store.resetStatistics() }),
      ("maintenance", { try Maintenance(of: store).runOnce() }),
      ("write", { try store.write { _ in } }),
    ]
    for (name, call) in calls {
      try store.write { batch in
        try batch.set(name, for: "last", in: notes)
        #expect(failure(call) == .insideWrite, "\(name)")
      }
      #expect(try notes.text("last") == name)
    }
    #expect(try notes.text("k") == "1")
  }

  @Test func `a write inside the closure of an update throws, in a task too`() async throws {
    #expect(
      failure {
        try notes.update("k") { _ in
          try notes.set("inner", for: "j")
          return nil
        }
      } == .insideWrite)
    let error = await #expect(throws: LarderError.self) {
      try await notes.update("k") { (_: [UInt8]?) -> [UInt8]? in
        try store.purge()
        return [1]
      }
    }
    #expect(error?.code == .insideWrite)
    try await notes.set([2], for: "k")
    #expect(try notes.bytes("k") == [2])
  }

  @Test func `a close that a write waits for gives up, and closing again ends it`() throws {
    try withTemporaryDirectory { path in
      let store = try Store(
        at: path + "/s", options: Store.Options(lockTimeout: .milliseconds(100)))
      let notes = store.namespace("notes")
      try store.write { batch in
        try batch.set("1", for: "k", in: notes)
        try inThreads(1) { _ in for _ in 0..<2 { #expect(failure { try store.close() } == .busy) } }
      }
      try store.close()
      let again = try Store(at: path + "/s")
      #expect(try again.namespace("notes").text("k") == "1")
      try again.verifyAndClose()
    }
  }

  @Test func `a write to another store inside a write is fine`() throws {
    try withStore { other, _ in
      try store.write { batch in
        try other.namespace("notes").set("1", for: "k")
        try batch.set("1", for: "k", in: store.namespace("notes"))
      }
      #expect(try other.namespace("notes").text("k") == "1")
    }
  }

  @Test func `impossible intervals of maintenance are errors`() throws {
    for (interval, jitter) in [
      (Duration.zero, 0.1), (.seconds(-1), 0.1), (.seconds(1), -0.1), (.seconds(1), 1.1),
      (.seconds(1), .nan),
    ] {
      let error = failure { _ = try Maintenance(of: store, every: interval, jitter: jitter) }
      #expect(error == .invalidArgument)
    }
  }

  @Test func `a write on a thread that an open write waits for fails at its lock timeout`() throws {
    let store = try Store.temporary(options: Store.Options(lockTimeout: .milliseconds(100)))
    let notes = store.namespace("notes")
    let writes: [@Sendable () throws -> Void] = [
      { try notes.set("inner", for: "k") },
      { try store.write { _ = try $0.remove("k", from: notes) } },
      { try store.purge() }, { try store.declare(Rules(), for: "notes") },
    ]
    for write in writes {
      try store.write { batch in
        // `write` must throw. Otherwise both threads would wait for each other without end.
        try inThreads(1) { _ in
          let error = thrown(write)
          #expect(error?.code == .busy)
          #expect(error?.message.contains("100 ms") == true, "\(error?.message ?? "")")
          #expect(error?.hint?.contains("inside `write`") == true)
        }
        try batch.set("outer", for: "outer", in: notes)
      }
    }
    try notes.set("later", for: "k")
    #expect(try notes.text("k") == "later" && notes.text("outer") == "outer")
    #expect(try store.verify().faults == [])
  }

  @Test func `a task's write that waits for a write waiting for it fails, too`() async throws {
    let store = try Store.temporary(options: Store.Options(lockTimeout: .milliseconds(100)))
    let notes = store.namespace("notes")
    let isDone = DispatchSemaphore(value: 0)
    let executor = QueueExecutor()
    let inner = try store.write { batch in
      let inner = Task.detached(executorPreference: executor) {
        defer { isDone.signal() }
        try await notes.set([1], for: "k")
      }
      #expect(isDone.wait(timeout: .now() + .seconds(20)) == .success)
      try batch.set([2], for: "outer", in: notes)
      return inner
    }
    #expect(await code { try await inner.value } == .busy)
    #expect(try notes.bytes("k") == nil && notes.bytes("outer") == [2])
    #expect(try store.verify().faults == [])
  }
}

/// Runs tasks on threads of a separate queue, so the tasks run while every thread of the shared pool is blocked.
private final class QueueExecutor: TaskExecutor {
  private let queue = DispatchQueue(label: "tests", attributes: .concurrent)

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}
