import LarderSystem
import TestSupport
import Testing

@testable import Larder

@Suite(.settling) struct LoadingTests: StoreSuite {
  let fixture = StoreFixture()
  private let origin = Origin()

  @Test func `what is missing is loaded and stored, and says where it came from`() async throws {
    let disk = store.cache(TextCodec(), in: "boards", memory: MemoryLimits.off)
    let first = try await origin.ask(
      boards, LoadOptions(expires: .after(.minutes(2)), waitsForCommit: true))
    #expect(first.value == "load 1" && first.source == .loaded && first.age == .zero)
    #expect(first.error == nil)
    clock.advance(by: .seconds(30))
    let again = try await origin.ask(boards)
    #expect(again.value == "load 1" && again.source == .memory && again.age == .seconds(30))
    let stored = try await origin.ask(disk)
    #expect(stored.value == "load 1" && stored.source == .disk && stored.age == .seconds(30))
    clock.advance(by: .seconds(90))
    let later = try await origin.ask(boards)
    #expect(later.value == "load 2" && later.source == .loaded && origin.loads == 2)
  }

  @Test func `a value whose commit ends during a read is found`() async throws {
    try await store.namespace("boards").set([0xFF], for: "thun")
    let (writer, isReading) = (await LockHolder(store), Shared(false))
    let boards = store.cache(
      CountingCodec { [store] in
        guard isReading.value else { return }
        writer.letGo()
        while !store.engine.loads.writes.isEmpty { backOff(microseconds: 100) }
      }, in: "boards")
    #expect(try await !origin.ask(boards, LoadOptions()).isCommitted)
    isReading.withLock { $0 = true }
    #expect(try boards.value(for: "thun") == "load 1")
  }

  @Test func `ten thousand tasks that ask for a hundred keys make a hundred loads`() async throws {
    let loads = Shared<[String: Int]>([:])
    let absent = LoadOptions(absent: .never, waitsForCommit: true)
    _ = try await boards.value(for: "key 7", options: absent) { _ in .absent }
    try await inTasks(10_000) { task in
      let key = "key \(task % 100)"
      let loaded = try await boards.result(for: key, options: .committed) {
        loads.withLock { $0[key, default: 0] += 1 }
        await Task.yield()
        return "of \(key)"
      }
      #expect(loaded.value == "of \(key)")
    }
    #expect(
      loads.withLock { $0 } == Dictionary(uniqueKeysWithValues: (0..<100).map { ("key \($0)", 1) }))
  }

  @Test func `callers that share a load without a value share a second load`() async throws {
    origin.close()
    async let absent = boards.value(for: "thun") { [origin] _ in
      _ = try await origin.load()
      return .absent
    }
    try await origin.waitForLoads(1)
    let tasks = (0..<20).map { _ in origin.startAsking(boards) }
    try await waitUntil { boards.namespace.engine.loads.running.callers() == 21 }
    origin.open()
    for task in tasks { #expect(try await task.value.value == "load 2") }
    #expect(try await absent == nil && origin.loads == 2)
  }

  @Test(arguments: [[0, 2], [0, 1, 2]])
  func `who gives up leaves the others their load, which ends when all gave up`(
    indices: [Int]
  ) async throws {
    origin.close()
    let tasks = (0..<3).map { _ in origin.startAsking(boards) }
    try await waitUntil { boards.namespace.engine.loads.running.callers() == 3 }
    let ended = indices.map { tasks[$0] }
    for task in ended { task.cancel() }
    for task in ended { await #expect(throws: CancellationError.self) { try await task.value } }
    let isAbandoned = ended.count == 3
    if isAbandoned { try await waitUntil { origin.cancelled > 0 } }
    #expect(origin.cancelled == (isAbandoned ? 1 : 0))
    origin.open()
    let next = isAbandoned ? origin.startAsking(boards) : tasks[1]
    #expect(try await next.value.value == (isAbandoned ? "load 2" : "load 1"))
  }

  @Test func `an error reaches all who wait, and is not kept`() async throws {
    origin.close()
    origin.fail()
    let tasks = (0..<10).map { _ in origin.startAsking(boards) }
    try await origin.waitForLoads(1)
    try await waitUntil { boards.namespace.engine.loads.running.callers() >= 10 }
    origin.open()
    for task in tasks { await #expect(throws: Origin.Refusal(number: 1)) { try await task.value } }
    for number in 2...200 {
      await #expect(throws: Origin.Refusal(number: number)) { try await origin.ask(boards) }
    }
    origin.fail(false)
    #expect(try await origin.ask(boards).value == "load 201")
  }

  @Test func `a load that takes too long fails, and its later value is not stored`() async throws {
    let options = LoadOptions(timeout: .seconds(15), waitsForCommit: true)
    let task = try await origin.startHeld(boards, options)
    try await waitUntil { clock.isAwaited }
    clock.advance(by: .seconds(14))
    #expect(boards.namespace.engine.loads.running.count == 1)
    clock.advance(by: .seconds(1))
    #expect(await code { try await task.value } == .timedOut)
    origin.open()
    #expect(try boards.count() == 0)
  }

  @Test func `a write of the key while it is loaded stays`() async throws {
    try await boards.set("old", for: "thun", expires: .after(.seconds(1)))
    clock.advance(by: .seconds(1))
    let absent = LoadOptions(absent: .never, waitsForCommit: true)
    _ = try await boards.value(for: "zug", options: absent) { _ in .absent }
    for key in ["thun", "bern", "zug"] {
      let started = origin.loads
      let task = try await origin.startHeld(boards, for: key)
      try await boards.set("written", for: key)
      origin.open()
      let loaded = try await task.value
      #expect(loaded.value == "load \(started + 1)" && loaded.source == .loaded)
      #expect(try boards.value(for: key) == "written")
    }
  }

  @Test func `what cannot be stored is returned all the same, and says why`() async throws {
    let boards = store.cache(TextCodec(), in: "boards", rules: Rules(largestValue: 10))
    let errors = Shared<[any Error]>([])
    var options = LoadOptions(onBackgroundError: { error in errors.withLock { $0.append(error) } })
    for waits in [false, true] {
      options.waitsForCommit = waits
      let loaded = try await boards.result(for: "thun", options: options) { "more than ten bytes" }
      #expect(loaded.value == "more than ten bytes" && loaded.source == .loaded)
      #expect((loaded.error as? LarderError)?.code == (waits ? .overLimit : nil))
      try await boards.settle()
    }
    #expect(errors.value.map { ($0 as? LarderError)?.code } == [.overLimit, .overLimit])
    #expect(try boards.count() == 0)
  }

  @Test func `loads of different types under a key do not meet`() async throws {
    let numbers = store.cache(of: Int.self, in: "boards")
    origin.close()
    async let first = boards.result(for: "k", options: .committed) { try await origin.text() }
    try await origin.waitForLoads(1)
    async let second = numbers.result(for: "k", options: .committed) { try await origin.load() }
    try await origin.waitForLoads(2)
    origin.open()
    #expect(try await first.value == "load 1")
    #expect(try await second.value == 2)
  }

  @Test func `a reload begins a load of its own, and what that brings stays`() async throws {
    let second = Origin()
    let usual = try await origin.startHeld(boards)
    let reloaded = try await boards.result(
      for: "thun", options: LoadOptions(policy: .reload, waitsForCommit: true)
    ) { "again \(try await second.load())" }
    #expect(reloaded.value == "again 1")
    origin.open()
    #expect(try await usual.value.value == "load 1")
    #expect(try boards.value(for: "thun") == "again 1")
  }

  @Test func `a cache keeps its loader`() async throws {
    let boards = store.cache(of: String.self, in: "boards")
      .loading(options: LoadOptions(expires: .after(.minutes(2)))) { [origin] (_: String, stored) in
        stored?.value == "load 3" ? .unchanged : .value(try await origin.text())
      }
    #expect(try await boards.value(for: "thun") == "load 1")
    #expect(try await boards.value(for: "thun") == "load 1")
    #expect(try await boards.refresh("thun") == "load 2")
    clock.advance(by: .minutes(3))
    #expect(try await boards.value(for: "thun") == "load 3")
    #expect(try await boards.value(for: "thun", policy: .revalidate) == "load 3")
    #expect(origin.loads == 3)
  }
}

@Suite(.timeLimit(.minutes(20)), .settling) struct LoadCycleTests: StoreSuite {
  let fixture = StoreFixture()

  @Test(arguments: [RequestPolicy.standard, .revalidate, .reload], [[], ["b", "c"]])
  func `a load cycle of any length throws`(policy: RequestPolicy, others: [String]) async throws {
    @Sendable func load(_ keys: ArraySlice<String>) async throws -> String {
      guard let key = keys.first else {
        return try await boards.value(for: "a", options: LoadOptions(policy: policy)) { "inner" }
      }
      return try await boards.value(for: key) { try await load(keys.dropFirst()) }
    }
    #expect(await code { try await load((["a"] + others)[...]) } == .loadCycle)
    #expect(try await boards.value(for: "a") { "again" } == "again")
  }

  @Test func `two loads that wait for each other end, one of them with an error`() async throws {
    let origins = [Origin(isOpen: false), Origin(isOpen: false)]
    var tasks: [Task<String, any Error>] = []
    for (origin, (key, other)) in zip(origins, [("a", "b"), ("b", "a")]) {
      let task = Task {
        try await boards.value(for: key) {
          _ = try await origin.load()
          return try await boards.value(for: other) { "of \(other)" }
        }
      }
      tasks.append(task)
      try await origin.waitForLoads(1)
    }
    for origin in origins { origin.open() }
    for task in tasks { #expect(await code { try await task.value } == .loadCycle) }
  }

  @Test func `loads may load other keys, many at once and one from several`() async throws {
    let value = try await boards.value(for: "sum") {
      try await withThrowingTaskGroup(of: String.self) { group in
        for key in ["a", "b", "c"] {
          group.addTask {
            try await boards.value(for: key) { try await boards.value(for: "base") { key } }
          }
        }
        return try await group.reduce(into: []) { $0.append($1) }.sorted().joined()
      }
    }
    let base = try #require(try boards.value(for: "base"))
    #expect(value == base + base + base)
  }

  @Test func `a refresh in the background does not wait, so that it is no cycle`() async throws {
    let stale = Staleness(whileRevalidating: .hours(1))
    try await boards.set("old", for: "b", .with(expires: .after(.seconds(1)), stale: .hours(1)))
    let options = LoadOptions(expires: .after(.seconds(1)), stale: stale, waitsForCommit: true)
    clock.advance(by: .seconds(2))
    let value = try await boards.value(for: "a") {
      try await boards.value(for: "b", options: options) {
        try await boards.value(for: "a") { "inner" }
      }
    }
    #expect(value == "old")
  }

  @Test func `a task that outlives its load may ask for the key again`() async throws {
    let later = Shared<Task<String, any Error>?>(nil)
    let origin = Origin(isOpen: false)
    let value = try await boards.value(for: "a") {
      later.withLock { task in
        task = Task {
          _ = try await origin.load()
          return try await boards.value(for: "a") { "again" }
        }
      }
      return "first"
    }
    origin.open()
    let again = try await later.withLock { $0 }?.value
    #expect(value == "first" && again == "first")
  }
}
