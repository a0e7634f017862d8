import Foundation
import LarderSystem
import TestSupport
import Testing

@testable import Larder

@Suite struct ChangeTests: StoreSuite {
  let fixture = StoreFixture()

  @Test func `every kind of change is told with what it did`() async throws {
    try await notes.set("before", for: "old")
    var watch = store.changes().makeAsyncIterator()
    try await notes.set("v", for: "k", expires: .after(.seconds(5)))
    try await notes.set("longer", for: "k", expires: .after(.seconds(5)))
    try await notes.touch("k", expires: .after(.seconds(6)))
    try await notes.remove("old")
    clock.advance(by: .seconds(6))
    try store.purge()
    try await notes.set("w", for: "k")
    try notes.clear()
    try store.rename("notes", to: "renamed")
    let seen = try await watch.rest(of: store)
    #expect(
      seen.map(\.kind) == [
        .set, .set, .touched, .removed(.removed), .removed(.expired), .set, .cleared,
        .renamed(to: "renamed"),
      ])
    #expect(
      seen.map(\.key) == ["k", "k", "k", "old", "k", "k", nil, nil].map { $0.map { Key($0) } })
    #expect(seen.map(\.sizeBefore) == [nil, 1, 6, 6, 6, nil, 1, nil])
    #expect(seen.map(\.sizeAfter) == [1, 6, 6, nil, nil, 1, nil, nil])
    #expect(seen.allSatisfy { $0.namespace == "notes" && !$0.isKeyCut })
    #expect(seen.allSatisfy { $0.process == Int(ProcessInfo.processInfo.processIdentifier) })
    #expect(seen.map(\.reason).compactMap { $0 } == [.removed, .expired])
    #expect(zip(seen, seen.dropFirst()).allSatisfy { $0.transaction! < $1.transaction! })
    #expect(seen[3].time?.duration(to: seen[4].time!) == .seconds(6))
  }

  @Test func `a watcher of a namespace sees that one, even renamed and cleared`() async throws {
    let (a, b) = (store.namespace("a"), store.namespace("b"))
    var watch = a.changes().makeAsyncIterator()
    try await b.set("v", for: 1)
    try await a.set("v", for: 2)
    try a.clear()
    try await a.set("v", for: 3)
    try store.rename("a", to: "c")
    try await store.namespace("c").set("v", for: 4)
    try store.rename("b", to: "a")
    try await a.set("v", for: 5)
    var kinds: [Change.Kind] = []
    for _ in 0..<6 { kinds.append(try #require(await watch.next()).kind) }
    #expect(kinds == [.set, .cleared, .set, .renamed(to: "c"), .renamed(to: "a"), .set])
  }

  @Test func `a rename between the two longest names is told`() async throws {
    let (a, b) = (String(repeating: "a", count: 100), String(repeating: "b", count: 100))
    var watch = store.changes().makeAsyncIterator()
    try await store.namespace(a).set("v", for: 1)
    #expect(await watch.next()?.kind == .set)
    try store.rename(a, to: b)
    #expect(await watch.next()?.kind == .renamed(to: b))
  }

  @Test func `of a long key the beginning is told`() async throws {
    let notes = store.namespace(String(repeating: "n", count: Store.Namespace.longestName))
    var watch = store.changes().makeAsyncIterator()
    for count in [1, 64, 65, 250, 251, 5000] {
      let key = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
      try await notes.set("v", for: key)
      try await notes.remove(key)
      for _ in 0..<2 {
        let change = try #require(await watch.next())
        #expect(change.key?.bytes == Array(key.prefix(64)) && change.isKeyCut == (count > 64))
        #expect(change.namespace == notes.name)
      }
    }
  }

  @Test func `writers publish while somebody watches, and no longer`() async throws {
    let feed = store.engine.changes
    #expect(try !store.publishesChanges)
    #expect(!FileManager.default.fileExists(atPath: store.path + "/changes"))
    do {
      let changes = store.changes()
      #expect(try store.publishesChanges)
      try await notes.set("v", for: "k")
      for await change in changes {
        #expect(change.kind == .set)
        break
      }
      #expect(try !store.publishesChanges)
    }
    let changes = store.changes()
    let other = store.changes()
    let task = Task { for await _ in changes {} }
    task.cancel()
    await task.value
    #expect(try store.publishesChanges)
    withExtendedLifetime(other) {}
    _ = consume other
    #expect(try !store.publishesChanges)
    #expect(feed.ring.watchedUntil == 0)
    _ = store.changes()
    #expect(try !store.publishesChanges)
  }

  @Test(.timeLimit(.minutes(20)))
  func `the end of one loop ends the other loops of the same watch`() async throws {
    let changes = store.changes()
    let other = Task { for await _ in changes {} }
    try await waitUntil { !store.engine.changes.sleepers.isEmpty }
    let first = Task { for await _ in changes {} }
    first.cancel()
    await first.value
    await other.value
    #expect(try !store.publishesChanges)
  }

  @Test func `closing the store ends every watch`() async throws {
    let tasks = (0..<4).map { _ in store.changes() }.map { changes in
      Task {
        var count = 0
        for await _ in changes { count += 1 }
        return count
      }
    }
    try await store.namespace("notes").set("v", for: "k")
    try store.close()
    for task in tasks { #expect(await task.value <= 1) }
    var late = store.changes().makeAsyncIterator()
    #expect(await late.next()?.ending?.code == .closed)
    #expect(await late.next() == nil)
  }

  @Test func `a handle that may only read watches once the store was watched`() async throws {
    let store = try Store.temporary()
    let reader = try Store(at: store.path, options: Store.Options(readOnly: true))
    var watch = reader.changes().makeAsyncIterator()
    #expect(await watch.next()?.ending?.code == .readOnly)
    _ = store.changes()
    watch = reader.changes().makeAsyncIterator()
    try await store.namespace("notes").set("v", for: "k")
    #expect(await watch.next()?.kind == .set)
  }

  @Test func `a watcher that was overtaken is told once, and what follows is whole`() async throws {
    let store = try Store.temporary(options: with(Store.Options()) { $0.hooks.changeSlots = 64 })
    let notes = store.namespace("notes")
    var watch = store.changes().makeAsyncIterator()
    for key in 0..<64 { try await notes.set("v", for: key) }
    for key in 0..<64 { #expect(await watch.next()?.key == Key(key)) }
    for key in 0..<65 { try await notes.set("v", for: key) }
    #expect(await watch.next()?.kind == .missed(65))
    // One batch has more changes than the ring has room for, so the watch must report all changes of the batch as missed.
    try notes.fill(0..<1000)
    #expect(await watch.next()?.kind == .missed(1000))
    try await notes.remove(7)
    #expect(await watch.next()?.kind == .removed(.removed))
  }

  @Test func `a replay of all changes is the store`() async throws {
    for seed in TestSettings.seeds(corpus: 3) {
      let clock = ManualClock()
      let options = with(Store.Options(clock: clock)) { $0.hooks.chunksAbove = 2000 }
      let store = try Store.temporary(options: options)
      var writer = try RandomWriter(store: store, clock: clock, seed: seed)
      var watch = store.changes().makeAsyncIterator()
      var replay = Replay()
      // With some seeds a step makes few changes, so the run continues until there are more than 200 changes.
      var step = 0
      while step < 12 || replay.count <= 200 && step < 100 {
        for _ in 0..<25 { try writer.step() }
        for change in try await watch.rest(of: store) {
          replay.apply(change, "LARDER_SEED=\(seed)")
        }
        try replay.compare(store, "LARDER_SEED=\(seed), step \(step)")
        step += 1
      }
      #expect(replay.missed == 0 && replay.count > 200, "LARDER_SEED=\(seed)")
      #expect(try store.verify().faults == [])
    }
  }

  @Test func `several watchers see the same, whoever writes at the same time`() async throws {
    let tasks = (0..<3).map { _ in store.changes() }.map { changes in
      Task {
        var seen: [Change] = []
        for await change in changes {
          seen.append(change)
          if change.namespace == "end" { break }
        }
        return seen
      }
    }
    try inThreads(3) { thread in
      for key in 0..<200 { try store.namespace("notes-\(thread)").set("\(key)", for: key) }
    }
    try await store.namespace("end").set("", for: "end")
    let seen = await tasks[0].value
    #expect(seen.count == 601)
    for thread in 0..<3 {
      let keys = seen.filter { $0.namespace == "notes-\(thread)" }.map(\.key)
      #expect(keys == (0..<200).map { Key($0) })
    }
    for task in tasks { #expect(await task.value == seen) }
  }
}

extension Change {
  var ending: LarderError? { if case .ended(let error) = kind { error } else { nil } }
}
