import Dispatch
import Foundation
import TestSupport
import Testing

@testable import Larder

struct GroupCommitTests {
  @Test func `many tasks share a commit, and each entry is there when its write returns`()
    async throws
  {
    let store = try Store.patient()
    let notes = store.namespace("notes")
    let before = try store.statistics().file.transaction
    try await whileHeld(store, until: 64) {
      try await withThrowingTaskGroup(of: Void.self) { group in
        for task in 0..<64 {
          group.addTask {
            try await notes.set("\(task)", for: "\(task)")
            let found: String? = try notes.value(for: "\(task)")
            #expect(found == "\(task)")
          }
        }
        try await group.waitForAll()
      }
    }
    #expect(try notes.count() == 64)
    // At most one commit each for the held batch, the write that began to wait for it, and the group of all other writes.
    #expect(try store.statistics().file.transaction - before <= 4)
    #expect(try store.verify().faults == [])
  }

  @Test(.timeLimit(.minutes(20)))
  func `blocking writes and closing need no thread of the queue`() async throws {
    let store = try Store.patient()
    let notes = store.namespace("notes")
    // Simulates a process that could create no thread for the commits.
    store.engine.writes.queue.thread.suspend()
    defer { store.engine.writes.queue.thread.resume() }
    let (held, goOn, ended) = (
      DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)
    )
    Thread.detachNewThread {
      try? store.write { _ in
        held.signal()
        goOn.wait()
      }
    }
    await held.signalled()
    Thread.detachNewThread {
      try? notes.set("v", for: "k")
      ended.signal()
    }
    // The write waits in the queue. After 100 ms the calling thread commits the queue itself.
    try await waitUntil {
      store.engine.writes.queue.waitingCount == 1 || store.engine.writes.queue.hasTaken
    }
    goOn.signal()
    await ended.signalled()
    #expect(try notes.text("k") == "v")
    try store.close()
  }

  @Test func `a write that fails takes none of its neighbours with it`() async throws {
    let store = try Store.patient()
    let notes = store.namespace("notes")
    try store.declare(Rules(largestValue: 100), for: "notes")
    let refused = Tally()
    try await whileHeld(store, until: 20) {
      await withTaskGroup(of: Void.self) { group in
        for task in 0..<20 {
          group.addTask {
            do {
              try await notes.set([UInt8](repeating: 1, count: task * 10), for: "\(task)")
            } catch let error as LarderError {
              #expect(error.code == .overLimit && task > 10)
              refused.add()
            } catch {
              Issue.record(error)
            }
          }
        }
      }
    }
    #expect(refused.value == 9)
    #expect(try notes.count() == 11)
    #expect(try store.verify().faults == [])
  }

  @Test func `a change that throws midway is undone alone`() async throws {
    let store = try Store.patient()
    let notes = store.namespace("notes")
    let stopped = Tally()
    try await whileHeld(store, until: 10) {
      try await withThrowingTaskGroup(of: Void.self) { group in
        for task in 0..<10 {
          group.addTask {
            do {
              try await store.engine.commit(
                SharedWrite { batch in
                  try batch.set("\(task)", for: "\(task)", in: notes)
                  if task % 2 == 1 { throw Stop() }
                })
            } catch is Stop {
              stopped.add()
            }
          }
        }
        try await group.waitForAll()
      }
    }
    #expect(stopped.value == 5)
    #expect(try notes.keysByPages(of: 20).map(\.description) == ["0", "2", "4", "6", "8"])
    #expect(try store.verify().faults == [])
  }

  @Test func `a cancelled write that has not begun is not written`() async throws {
    let store = try Store.patient()
    let notes = store.namespace("notes")
    // The batch ends when all kept writes wait. By then the cancelled writes are taken back.
    try await whileHeld(store, until: 20) {
      let tasks = (0..<10).map { index in Task { try await notes.set("x", for: "\(index)") } }
      try await waitUntil { store.engine.writes.queue.waitingCount >= 10 }
      for task in tasks { task.cancel() }
      for task in tasks {
        await #expect(throws: CancellationError.self) { try await task.value }
      }
      try await withThrowingTaskGroup(of: Void.self) { group in
        for index in 0..<20 { group.addTask { try await notes.set("x", for: "kept \(index)") } }
        try await group.waitForAll()
      }
    }
    #expect(try notes.count() == 20 && notes.contains("kept 7"))
    #expect(try store.verify().faults == [])
  }

  @Test func `threads that wait join as well`() throws {
    let store = try Store.patient()
    let notes = store.namespace("notes")
    DispatchQueue.concurrentPerform(iterations: 8) { thread in
      for index in 0..<50 {
        do {
          try notes.set("x", for: "\(thread) \(index)")
          #expect(try notes.contains("\(thread) \(index)"))
        } catch {
          Issue.record(error)
        }
      }
    }
    #expect(try notes.count() == 400)
    #expect(try store.verify().faults == [])
  }

  @Test func `closing writes what was accepted`() async throws {
    let path = TemporaryDirectory.unusedPath
    defer { try? FileManager.default.removeItem(atPath: path) }
    var store = try Store(at: path)
    let notes = store.namespace("notes")
    let outcomes = await withTaskGroup(of: Bool.self) { group in
      for task in 0..<100 {
        group.addTask {
          do {
            try await notes.set("x", for: "\(task)")
            return true
          } catch {
            return false
          }
        }
      }
      let closing = store
      group.addTask {
        try? closing.close()
        return false
      }
      return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
    }
    store = try Store(at: path)
    #expect(try store.namespace("notes").count() == outcomes)
    try store.close()
  }

  @Test func `a version decides whether a value is replaced`() throws {
    try withNotes { _, notes, clock in
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
  }

  @Test func `concurrent updates lose none`() async throws {
    let store = try Store.patient()
    let notes = store.namespace("notes")
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<16 {
        group.addTask {
          for _ in 0..<25 {
            try await notes.update("count") { bytes in
              let count = bytes.map { Int(String(decoding: $0, as: UTF8.self))! } ?? 0
              return Array("\(count + 1)".utf8)
            }
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(try notes.text("count") == "400")
    try await notes.update("count") { _ in nil }
    #expect(try notes.count() == 0)
  }
}
