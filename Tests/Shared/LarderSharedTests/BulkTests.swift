import Larder
import LarderSharedTesting
import Synchronization
import TestSupport
import Testing

@testable import LarderShared

/// Many keys at once through the tier.
@Suite struct BulkTests {
  private final class Source: Sendable {
    let origin = Origin()
    private let state = Mutex<[[String]]>([])
    var asked: [[String]] { state.withLock { $0.map { $0.sorted() } } }

    @Sendable func load(_ keys: [String]) async throws -> [(String, String)] {
      state.withLock { $0.append(keys) }
      _ = try await origin.load()
      return keys.filter { $0 != "none" }.map { ($0, "of " + $0) }
    }
  }

  @Test func `one call has what neither the store nor the tier has`() async throws {
    try await withMachines(2) { machines, tier in
      let source = Source()
      #expect(
        try await machines[0].cache.values(for: ["a", "b", "a"], load: source.load)
          == ["of a", "of b", "of a"])
      try await machines[1].cache.set("set", for: "c")
      let found = try await machines[1].cache.results(
        for: ["a", "c", "d", "e", "none"], load: source.load)
      #expect(try found.prefix(4).map { try $0.get().value } == ["of a", "set", "of d", "of e"])
      #expect(try found[0].get().source == .shared && found[2].get().source == .loaded)
      #expect(throws: LarderError.self) { try found[4].get() }
      #expect(source.asked == [["a", "b"], ["d", "e", "none"]])
      let again = try await machines[0].cache.values(for: ["d", "e"], load: source.load)
      #expect(again == ["of d", "of e"] && source.asked.count == 2)
    }
  }

  @Test func `a key that another machine loads holds up no other`() async throws {
    try await withMachines(2) { machines, tier in
      let (slow, source) = (Origin(isOpen: false), Source())
      let task = Task { try await machines[0].read("b", slow) }
      try await waitUntil { slow.loads == 1 }
      let bulk = Task { try await machines[1].cache.values(for: ["a", "b"], load: source.load) }
      try await waitUntil {
        machines[1].clock.advance(by: .milliseconds(20))
        try await Task.sleep(for: .milliseconds(1))
        return source.asked == [["a"]]
      }
      slow.open()
      #expect(try await task.value == "load 1")
      try await whileTimePasses([machines[1]]) { machines[1].shared.statistics.hits == 1 }
      #expect(try await bulk.value == ["of a", "load 1"] && source.asked.count == 1)
    }
  }

  @Test func `without the tier the source is asked, and errors reach each key`() async throws {
    try await withMachines(1) { machines, tier in
      let source = Source()
      try await machines[0].cutOff()
      let keys = (0..<100).map { "\($0)" }
      #expect(
        try await machines[0].cache.values(for: keys, load: source.load) == keys.map { "of " + $0 })
      #expect(Set(source.asked.joined()) == Set(keys))
      #expect(source.asked.joined().count == 100)
      source.origin.fail()
      let failed = try await machines[0].cache.results(for: ["x", "y"], load: source.load)
      for result in failed { #expect(throws: Origin.Refusal.self) { try result.get() } }
    }
  }

  @Test func `a caller that is cancelled cancels the call`() async throws {
    try await withMachines(1) { machines, tier in
      let source = Source()
      source.origin.close()
      let task = Task { try await machines[0].cache.values(for: ["a", "b"], load: source.load) }
      try await waitUntil { source.asked.count == 1 }
      task.cancel()
      await #expect(throws: CancellationError.self) { try await task.value }
      source.origin.open()
      #expect(try await machines[0].cache.values(for: ["a"], load: source.load) == ["of a"])
    }
  }
}
