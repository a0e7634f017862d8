import TestSupport
import Testing

@testable import Larder

@Suite(.timeLimit(.minutes(20)), .settling) struct LoadCycleTests: StoreSuite {
  let fixture = StoreFixture()

  private func expectCycle(_ body: () async throws -> Void) async {
    let error = await #expect(throws: LarderError.self) { try await body() }
    #expect(error?.code == .loadCycle)
  }

  @Test(arguments: [RequestPolicy.standard, .revalidate, .reload])
  func `a load that asks for its own key throws`(policy: RequestPolicy) async throws {
    await expectCycle {
      _ = try await boards.value(for: "a") {
        try await boards.value(for: "a", options: LoadOptions(policy: policy)) { "inner" }
      }
    }
    #expect(try await boards.value(for: "a") { "again" } == "again")
  }

  @Test(arguments: [RequestPolicy.standard, .reload])
  func `a load that asks for its own key through another one throws`(policy: RequestPolicy)
    async throws
  {
    await expectCycle {
      _ = try await boards.value(for: "a") {
        try await boards.value(for: "b") {
          try await boards.value(for: "c") {
            try await boards.value(for: "a", options: LoadOptions(policy: policy)) { "inner" }
          }
        }
      }
    }
  }

  @Test func `two loads that wait for each other end, one of them with an error`() async throws {
    let (first, second) = (Origin(), Origin())
    first.close()
    second.close()
    let a = Task {
      try await boards.value(for: "a") {
        _ = try await first.load()
        return try await boards.value(for: "b") { "of b" }
      }
    }
    try await first.waitForLoads(1)
    let b = Task {
      try await boards.value(for: "b") {
        _ = try await second.load()
        return try await boards.value(for: "a") { "of a" }
      }
    }
    try await second.waitForLoads(1)
    first.open()
    second.open()
    for result in [await a.result, await b.result] {
      #expect(failure { _ = try result.get() } == .loadCycle)
    }
  }

  @Test func `loads may load other keys, many at once and the same one from several`() async throws
  {
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
    let origin = Origin()
    origin.close()
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
