import TestSupport
import Testing

@testable import Larder

/// If a key is removed during a load, the loaded value is not stored, and callers after the removal do not get the value.
@Suite(.settling) struct RemovedDuringLoadTests: StoreSuite {
  let fixture = StoreFixture()
  let origin = Origin()
  let directory = TemporaryDirectory()

  /// The entry under the key when the load begins.
  enum Before: String, CaseIterable {
    case fresh, stale, expired, absent
    /// The namespace does not exist.
    case nowhere
  }

  enum RemovalKind: String, CaseIterable {
    case remove, pop, update, batch, prefix, tag, clear, clearAll, rename, setAndRemove, owner
  }

  private func prepare(_ before: Before) async throws {
    try await store.namespace("lines").set("line", for: "1")
    if before == .nowhere { return }
    let attributes = EntryAttributes.with(
      expires: .after(.minutes(1)), stale: before == .stale ? .hours(1) : .zero, tags: ["all"],
      owners: [Owner(Key("1"), in: "lines")])
    try await boards.set("old", for: before == .absent ? "bern" : "thun", attributes)
    if before != .fresh { clock.advance(by: .minutes(1)) }
  }

  private func remove(_ how: RemovalKind) async throws {
    switch how {
    case .remove: try await boards.remove("thun")
    case .pop: _ = try await boards.pop("thun")
    case .update: _ = try await boards.update("thun") { _ in nil }
    case .batch: try store.write { batch in _ = try batch.remove("thun", from: boards) }
    case .prefix: try boards.remove(prefix: "th")
    case .tag: try store.invalidate(tag: "all")
    case .clear: try boards.clear()
    case .clearAll: try store.clear()
    case .rename:
      // An absent namespace cannot be renamed, so the test clears this namespace instead.
      if try boards.namespace.info() == nil {
        try boards.clear()
      } else {
        try store.rename("boards", to: "b")
      }
    case .setAndRemove:
      try await boards.set("set", for: "thun")
      try await boards.remove("thun")
    case .owner: try await store.namespace("lines").remove("1")
    }
  }

  @Test(arguments: RemovalKind.allCases, Before.allCases)
  func `a removal during a load wins, and later callers begin their own`(
    how: RemovalKind, before: Before
  ) async throws {
    // Without a stored entry, the removal of an owner has nothing to remove, so the test omits this case.
    if how == .owner, [.absent, .nowhere].contains(before) { return }
    try await prepare(before)
    var options = LoadOptions(
      policy: .revalidate, tags: ["all"], owners: [Owner(Key("1"), in: "lines")],
      waitsForCommit: true)
    let first = try await origin.startHeld(boards, options)
    try await remove(how)
    #expect(try boards.value(for: "thun") == nil)
    options.owners = []
    let second = try await origin.startHeld(boards, options)
    origin.open()
    let loaded = try await first.value
    #expect(loaded.value == "load 1" && loaded.source == .loaded && !loaded.isCommitted)
    #expect(try await second.value.value == "load 2")
    #expect(try await boards.settled() == "load 2")
  }

  @Test(arguments: RemovalKind.allCases, [RequestPolicy.standard, .reload])
  func `no load before a removal is stored`(how: RemovalKind, policy: RequestPolicy) async throws {
    try await prepare(.absent)
    var options = LoadOptions(policy: policy, tags: ["all"], owners: [Owner(Key("1"), in: "lines")])
    let first = try await origin.startHeld(boards, options)
    try await remove(how)
    origin.open()
    #expect(try await first.value.value == "load 1")
    #expect(try await boards.settled() == nil && boards.entry(for: "thun") == nil)
    options.owners = []
    options.waitsForCommit = true
    let next = try await origin.ask(boards, options)
    #expect(next.value == "load 2" && next.isCommitted)
  }

  @Test(arguments: [true, false])
  func `a load in the background does not bring a removed value back`(isStale: Bool) async throws {
    let window: Duration? = isStale ? .hours(1) : nil
    try await boards.set("old", for: "thun", .with(expires: .after(.minutes(1)), stale: window))
    var options = LoadOptions(
      stale: Staleness(whileRevalidating: .hours(1)), refreshAhead: .seconds(1))
    clock.advance(by: isStale ? .minutes(1) : .seconds(59))
    origin.close()
    #expect(try await origin.ask(boards, options).value == "old")
    try await origin.waitForLoads(1)
    try await boards.remove("thun")
    options.waitsForCommit = true
    let second = try await origin.startHeld(boards, options)
    origin.open()
    #expect(try await second.value.value == "load 2")
    #expect(try await boards.settled() == "load 2")
  }

  @Test(arguments: [RemovalKind.tag, .owner])
  func `tags and owners that a load gives at its end count too`(how: RemovalKind) async throws {
    try await prepare(.absent)
    func ask(_ attributes: EntryAttributes) -> Task<String?, any Error> {
      Task {
        try await boards.value(for: "thun") { _ in .value(try await origin.text(), attributes) }
      }
    }
    var linked = EntryAttributes()
    if how == .tag { linked.tags = ["all"] } else { linked.owners = [Owner(Key("1"), in: "lines")] }
    origin.close()
    let first = ask(linked)
    try await origin.waitForLoads(1)
    try await remove(how)
    let later = [ask(EntryAttributes()), ask(EntryAttributes())]
    try await waitUntil { boards.namespace.engine.loads.running.callers() == 3 }
    origin.open()
    #expect(try await first.value == "load 1")
    for caller in later { #expect(try await caller.value == "load 2") }
    #expect(try await boards.settled() == "load 2")
  }

  @Test func `callers that shared a load share one more, whatever is removed then`() async throws {
    let second = Origin(isOpen: false)
    origin.close()
    let tasks = (0..<4).map { _ in
      Task {
        try await boards.value(for: "thun") { _ in
          let number = try await origin.load()
          if number > 1 { _ = try await second.load() }
          try store.invalidate(tag: "all")
          return .value("load \(number)", .with(tags: ["all"]))
        }
      }
    }
    try await waitUntil { boards.namespace.engine.loads.running.callers() == 4 }
    origin.open()
    try await waitUntil { boards.namespace.engine.loads.running.callers() == 3 }
    second.open()
    for task in tasks { _ = try await task.value }
    #expect(origin.loads == 2)
  }

  @Test func `another removal stops no load`() async throws {
    let tagged = with(LoadOptions.committed) { $0.tags = ["all"] }
    let first = try await origin.startHeld(boards, tagged)
    let reload = LoadOptions(policy: .reload, waitsForCommit: true)
    #expect(try await boards.value(for: "bern", options: reload) { _ in .absent } == nil)
    try await boards.set("other", for: "bern")
    try await boards.remove("bern")
    try store.invalidate(tag: "other")
    try store.namespace("others").clear()
    try store.namespace("others").invalidate(tag: "all")
    let second = origin.startAsking(boards, tagged)
    try await waitUntil { boards.namespace.engine.loads.running.callers() == 2 }
    origin.open()
    #expect(try await first.value.isCommitted)
    #expect(try await second.value.value == "load 1")
    #expect(try await boards.settled() == "load 1")
  }
}
