import LarderSystem
import TestSupport
import Testing

@testable import Larder

@Suite struct ChangeRingTests: StoreSuite {
  let fixture = StoreFixture()

  private func setAndDie(_ key: String, in store: Store, commits: Bool) throws {
    try store.writeAndDie(commits: commits) { batch in
      try batch.set("v", for: key, in: store.namespace("notes"))
      try batch.session.finish()
      batch.session.changes?.prepare()
    }
  }

  @Test func `what was committed and not published is published by the next writer`() async throws {
    var watch = store.changes().makeAsyncIterator()
    try setAndDie("1", in: store, commits: true)
    #expect(store.engine.changes.ring.head == 0)
    try setAndDie("2", in: store, commits: true)
    #expect(store.engine.changes.ring.head == 1)
    // An empty write makes no change, but publishes the second change.
    try store.write { _ in }
    #expect(await watch.next()?.key == Key("1"))
    #expect(await watch.next()?.key == Key("2"))
    #expect(store.engine.changes.ring.unpublished == nil)
  }

  @Test func `what was prepared and not committed is never shown`() async throws {
    var watch = store.changes().makeAsyncIterator()
    try setAndDie("1", in: store, commits: false)
    #expect(store.engine.changes.ring.unpublished != nil)
    try store.write { _ in }
    #expect(store.engine.changes.ring.unpublished == nil && store.engine.changes.ring.head == 0)
    // The transaction of "3" gets the number of the transaction of "2", which was never committed. So "2" must not be published.
    try setAndDie("2", in: store, commits: false)
    try setAndDie("3", in: store, commits: true)
    try store.write { _ in }
    #expect(await watch.next()?.key == Key("3"))
  }

  @Test func `a watch that begins during a write is told that something passed`() async throws {
    // Once a store has had a watch, its writers check for watches. The watch of the next line ends immediately.
    _ = store.changes()
    var changes: Changes?
    let gaps = store.engine.changes.ring.load(ChangeRing.Place.gaps)
    try store.write { batch in
      try batch.set("v", for: "k", in: notes)
      changes = store.changes()
      // The change is not committed yet, so this read returns nil.
      #expect(try notes.text("k") == nil)
    }
    var watch = try #require(changes).makeAsyncIterator()
    #expect(store.engine.changes.ring.load(ChangeRing.Place.gaps) == gaps + 1)
    #expect(await watch.next()?.kind == .missed(nil))
    try await notes.remove("k")
    #expect(await watch.next()?.kind == .removed(.removed))
    // A watch that begins during a write without changes misses nothing, so the number of gaps stays the same.
    changes = nil
    try store.write { _ in changes = store.changes() }
    #expect(store.engine.changes.ring.load(ChangeRing.Place.gaps) == gaps + 1)
  }

  @Test func `if no writer comes, watchers publish what was committed`() async throws {
    var options = Store.Options()
    options.hooks.machineClock = { [clock] in clock.monotonic.roundedUpMilliseconds + 1 }
    let store = try Store.temporary(options: options)
    var watch = store.changes().makeAsyncIterator()
    try setAndDie("1", in: store, commits: true)
    // Two renewals of the lease pass without a writer. Then the poll of the watcher publishes the change.
    for _ in 0..<2 {
      clock.advance(by: .milliseconds(Int64(ChangeLease.renewal)))
      #expect(store.engine.changes.poll(after: nil) != nil)
    }
    #expect(await watch.next()?.key == Key("1"))
  }

  @Test func `a slot that is not what was sealed is skipped, whatever is in it`() async throws {
    for seed in 1...200 {
      var random = SeededRNG(seed: seed)
      let record = ChangeRecord(
        .removed, reason: .evictedForBytes, id: NamespaceID(rawValue: 7), name: [1, 2],
        key: (0..<random.next(in: 0..<64)).map { UInt8($0) }, before: random.next(in: 0..<1000),
        time: Timestamp(milliseconds: 5), transaction: 9, process: 11)
      let place = UInt64(random.next(in: 0..<1_000_000))
      let seal = record.seal(at: place)
      #expect(ChangeRecord(record.words, sealed: seal, at: place)?.words == record.words)
      #expect(ChangeRecord(record.words, sealed: seal, at: place + 65_536) == nil)
      var words = record.words
      words[random.next(in: 0..<words.count)] ^= 1 << UInt64(random.next(in: 0..<64))
      #expect(ChangeRecord(words, sealed: seal, at: place) == nil, "LARDER_SEED=\(seed)")
      #expect(ChangeRecord(record.words.dropLast() + [], sealed: seal, at: place) == nil)
      #expect(ChangeRecord([], sealed: 0, at: place) == nil)
    }
    var watch = store.changes().makeAsyncIterator()
    for key in 0..<3 { try await store.namespace("notes").set("v", for: key) }
    #expect(await watch.next()?.key == Key(0))
    let words = store.engine.changes.ring.words
    let word = 512 + ChangeRecord.slotCount + 4
    words.view.store(words.view.wide(word) ^ 1, wide: word)
    #expect(await watch.next()?.kind == .missed(2))
    try await store.namespace("notes").set("v", for: 9)
    #expect(await watch.next()?.key == Key(9))
  }

  @Test func `the file fits the store and grows with it`() async throws {
    let ring = store.engine.changes.ring
    #expect(ring.slots == 0)
    var watch = store.changes().makeAsyncIterator()
    #expect(ring.slots == ChangeRing.fewestSlots)
    try await notes.set("v", for: "before")
    #expect(await watch.next()?.key == Key("before"))
    for key in 0..<60 { try await notes.set([UInt8](repeating: 7, count: 200_000), for: key) }
    #expect(ring.slots == 4096)
    // The ring has moved to a larger file, which must still have the changes of the smaller file.
    for key in 0..<60 { #expect(await watch.next()?.key == Key(key)) }
    try await notes.set("v", for: "after")
    #expect(await watch.next()?.key == Key("after"))
  }

  @Test func `a subscription that a larger file has forgotten is told so`() async throws {
    let store = try Store.temporary(options: with(Store.Options()) { $0.hooks.changeSlots = 64 })
    var watch = store.changes().makeAsyncIterator()
    let feed = store.engine.changes
    // Removes the lease of the watch, because a move of the ring to a larger file can lose a lease that is taken meanwhile.
    #expect(feed.ring.exchange(feed.ring.watchedUntil, for: 0, at: ChangeRing.Place.watched))
    try await store.namespace("notes").set("v", for: "unseen")
    #expect(feed.poll(after: nil) != nil)
    // If a poll of the feed renewed the lease before the write, the watch gets the change. Otherwise the watch reports a gap.
    let first = await watch.next()
    #expect(first?.kind == .missed(nil) || first?.key == Key("unseen"))
    try await store.namespace("notes").set("v", for: "seen")
    #expect(await watch.next()?.key == Key("seen"))
  }

  @Test(.timeLimit(.minutes(20)))
  func `a new watch that finds a lost lease wakes the others`() async throws {
    var options = Store.Options()
    options.hooks.machineClock = { [clock] in clock.monotonic.roundedUpMilliseconds + 1 }
    let store = try Store.temporary(options: options)
    let feed = store.engine.changes
    let changes = store.changes()
    let waiting = Task {
      var watch = changes.makeAsyncIterator()
      return await watch.next()?.kind
    }
    try await waitUntil { !feed.sleepers.isEmpty }
    let before = feed.sight
    clock.advance(by: .seconds(60))
    try store.write { try $0.set("unseen", for: "k", in: store.namespace("notes")) }
    let other = store.changes()
    #expect(feed.sight != before)
    // If a poll renewed the lease before the write, the watch gets the change.
    #expect([.missed(nil), .set].contains(await waiting.value))
    withExtendedLifetime(other) {}
  }

  @Test func `a watcher overtaken while it reads sees nothing twice or wrong`() async throws {
    let store = try Store.temporary(options: with(Store.Options()) { $0.hooks.changeSlots = 64 })
    let changes = store.changes()
    let total = 6000
    let watching = Task {
      var (last, seen, missed) = (-1, 0, 0)
      for await change in changes {
        if case .missed(let count) = change.kind {
          missed += count!
          continue
        }
        let number = change.sizeAfter!
        #expect(number > last && change.key == Key(number) && change.kind == .set)
        (last, seen) = (number, seen + 1)
        if number == total { break }
      }
      return (seen, missed)
    }
    var random = SeededRNG(seed: 5)
    var next = 0
    let value = [UInt8](repeating: 1, count: total)
    while next < total {
      let end = min(next + random.next(in: 1..<40), total)
      try store.write { batch in
        for number in next..<end {
          try batch.set(Array(value[..<number]), for: number, in: store.namespace("notes"))
        }
      }
      next = end
    }
    // The watch may miss some changes, so the loop repeats the last change until the watch gets this change and ends.
    while try store.publishesChanges {
      try await store.namespace("notes").set(value, for: total)
      await Task.yield()
    }
    let (seen, missed) = await watching.value
    #expect(seen + missed >= total + 1 && seen > 0)
  }
}
