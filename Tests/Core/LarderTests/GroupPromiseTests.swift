import Dispatch
import Foundation
import TestSupport
import Testing

@testable import Larder

@Suite struct `What a group promises its members`: StoreSuite {
  let fixture = StoreFixture()
  private let directory = TemporaryDirectory()
  private var path: String { directory.path + "/store" }
  private func text(_ bytes: [UInt8]?) -> String { String(decoding: bytes ?? [], as: UTF8.self) }

  @Test func `writes of one key are made in their order, whatever fails among them`() async throws {
    let stopped = Tally()
    try await whileHeld(store, until: 12) {
      try await withThrowingTaskGroup(of: Void.self) { group in
        for number in 0..<12 {
          try await store.engine.writes.queue.waitForWaiting(number)
          group.addTask {
            do {
              try await store.engine.commit(
                SharedWrite { batch in
                  let log = text(try batch.value(for: "log", in: notes))
                  try batch.set("\(log)\(number) ", for: "log", in: notes)
                  if number % 3 == 1 { throw Stop() }
                })
            } catch is Stop { stopped.add() }
          }
        }
        try await group.waitForAll()
      }
    }
    #expect(stopped.value == 4)
    #expect(try notes.text("log") == "0 2 3 5 6 8 9 11 ")
  }

  @Test func `a change that throws leaves nothing, though no size or count changed`() async throws {
    try await notes.set("1", for: "a")
    try await whileHeld(store, until: 2) {
      let failing = Task {
        try await store.engine.commit(
          SharedWrite { batch in
            try batch.set("2", for: "a", in: notes)
            throw Stop()
          })
      }
      try await store.engine.writes.queue.waitForWaiting(1)
      async let other: Void = notes.set("3", for: "b")
      await #expect(throws: Stop.self) { try await failing.value }
      try await other
    }
    #expect(try [notes.text("a"), notes.text("b")] == ["1", "3"])
  }

  @Test func `a task cancelled before its commit wrote nothing, though it has run`() async throws {
    let (reached, goOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let runs = Tally()
    try await whileHeld(store, until: 3) {
      let before = Task { try await notes.set("x", for: "before") }
      try await store.engine.writes.queue.waitForWaiting(1)
      async let between: Void = store.engine.commit(
        SharedWrite { batch in
          runs.add()
          try batch.set("x", for: "between", in: notes)
          if runs.value == 1 {
            reached.signal()
            goOn.wait()
          }
        })
      try await store.engine.writes.queue.waitForWaiting(2)
      let after = Task { try await notes.set("x", for: "after") }
      await reached.signalled()
      before.cancel()
      after.cancel()
      goOn.signal()
      await #expect(throws: CancellationError.self) { try await before.value }
      await #expect(throws: CancellationError.self) { try await after.value }
      try await between
    }
    #expect(runs.value == 2)
    #expect(try notes.keysByPages(of: 10).map(\.description) == ["between"])
  }

  @Test func `writes are committed even if others are cancelled during each run`() async throws {
    let tasks = Shared<[Task<Void, any Error>]>([])
    try await whileHeld(store, until: 9) {
      for index in 0..<8 {
        let task = Task { try await notes.set("x", for: "\(index)") }
        tasks.withLock { $0.append(task) }
        try await store.engine.writes.queue.waitForWaiting(index + 1)
      }
      try await store.engine.commit(
        SharedWrite { _ in
          let last = tasks.withLock { $0.popLast() }
          last?.cancel()
        })
    }
    #expect(try notes.count() == 5)
  }

  @Test(arguments: [Eviction.refuse, .adaptive])
  func `a member without room fails alone, others commit once`(_ eviction: Eviction) async throws {
    let full = store.namespace("full")
    try store.declare(Rules(limits: Limits(entries: 1), eviction: eviction), for: "full")
    try await full.set("1", for: "a")
    try await full.pin("a")
    let runs = Tally()
    let write = { @Sendable (key: String) in
      SharedWrite { batch in
        runs.add()
        try batch.set("x", for: key, in: notes)
      }
    }
    try await whileHeld(store, until: 3) {
      let before = Task { try await store.engine.commit(write("before")) }
      try await store.engine.writes.queue.waitForWaiting(1)
      let refused = Task { try await full.set("2", for: "b") }
      try await store.engine.writes.queue.waitForWaiting(2)
      let after = Task { try await store.engine.commit(write("after")) }
      #expect(await code { try await refused.value } == .full)
      try await before.value
      try await after.value
    }
    #expect(runs.value == 2)
    #expect(try full.count() == 1 && notes.count() == 2)
  }

  @Test func `closing waits for accepted writes, and refuses those that come later`() async throws {
    let store = try Store(at: path)
    let notes = store.namespace("notes")
    let isClosed: @Sendable () -> Bool = { store.engine.writes.queue.isClosed }
    try await whileHeld(store, until: isClosed) {
      async let writes: Void = inTasks(30) { try await notes.set("x", for: "\($0)") }
      try await store.engine.writes.queue.waitForWaiting(30)
      let closing = inThread { try store.close() }
      try await waitUntil { store.engine.writes.queue.isClosed }
      #expect(await code { try await notes.set("x", for: "late") } == .closed)
      try await writes
      try await closing.value
    }
    let again = try Store(at: path)
    #expect(try again.namespace("notes").count() == 30)
    #expect(try again.namespace("holder").count() == 2)
    try again.verifyAndClose()
  }

  @Test(.timeLimit(.minutes(20)))
  func `closing does not wait for ever for an update that does not end`() async throws {
    let store = try Store(at: path, options: Store.Options(lockTimeout: .milliseconds(100)))
    let (begun, goOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let update = Task {
      try await store.namespace("notes").update("k") { (_: [UInt8]?) -> [UInt8]? in
        begun.signal()
        goOn.wait()
        return [1]
      }
    }
    await begun.signalled()
    let closing = inThread { try store.close() }
    let error = await #expect(throws: LarderError.self) { try await closing.value }
    #expect(error?.code == .busy)
    goOn.signal()
    #expect(try await update.value == [1])
    try store.close()
    let again = try Store(at: path)
    #expect(try again.namespace("notes").bytes("k") == [1])
    try again.verifyAndClose()
  }

  @Test func `of many that replace one version one does, and an update sees it`() async throws {
    try await notes.set("former", for: "a")
    let version = try #require(try notes.entry(for: "a")?.version)
    let winners = Shared<[Int]>([])
    try await whileHeld(store, until: 17) {
      async let replacements: Void = inTasks(16) { number in
        if try await notes.replace(version, with: Array("\(number)".utf8), for: "a") {
          winners.withLock { $0.append(number) }
        }
      }
      try await store.engine.writes.queue.waitForWaiting(16)
      try await notes.update("a") { bytes in (bytes ?? []) + [33] }
      try await replacements
    }
    let winner = try #require(winners.value.count == 1 ? winners.value[0] : nil)
    #expect(try notes.text("a") == "\(winner)!")
  }

  @Test func `a batch runs on its caller's thread, in a commit of its own`() async throws {
    let commits = Shared<Set<UInt64>>([])
    let own = Shared<UInt64>(0)
    try await whileHeld(store, until: 20) {
      let batch = inThread {
        let caller = Thread.current
        try store.write { batch in
          #expect(Thread.current == caller)
          own.withLock { $0 = batch.session.transaction.id }
          for key in 0..<20 { try batch.set("batch", for: "batch \(key)", in: notes) }
        }
      }
      try await inTasks(20) { key in
        do {
          let commit = try await store.engine.commit(
            SharedWrite { batch in
              try batch.set("group", for: key, in: notes)
              if key == 7 { throw Stop() }
              return batch.session.transaction.id
            })
          commits.withLock { _ = $0.insert(commit) }
        } catch is Stop { #expect(key == 7) }
      }
      try await batch.value
    }
    #expect(!commits.value.contains(own.value))
    #expect(try notes.count() == 39)
    for key in 0..<20 where key != 7 { #expect(try notes.text(key) == "group") }
  }

  @Test func `if another process keeps the writer out, each of a group is told`() async throws {
    let store = try Store(at: path, options: Store.Options(lockTimeout: .milliseconds(300)))
    let notes = store.namespace("notes")
    try await notes.set("x", for: "here")
    let other = try PeerProcess("hold-write", path, saying: "writing")
    try await inTasks(10) { number in
      let answer = await code { try await notes.set("x", for: "\(number)") }
      #expect(answer == .busy)
    }
    try other.endInput()
    #expect(other.line() == "done")
    try await notes.set("x", for: "later")
    #expect(try notes.count() == 2)
    try store.close()
  }
}
