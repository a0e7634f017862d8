import TestSupport
import Testing

@testable import Larder

@Suite struct DueTests: StoreSuite {
  let fixture = StoreFixture()

  private func removeExpired(
    _ store: Store, in namespace: Store.Namespace? = nil, limit: Int
  ) throws -> RemovalResult {
    let id = try namespace?.id
    return try store.engine.commit(.withoutCleanup) { batch in
      var sweep = ExpirySweep(of: id, limit: limit)
      return try sweep.run(&batch.session)
    }
  }

  private func mayHaveExpired(_ store: Store, in namespace: Store.Namespace? = nil) throws -> Bool {
    let id = try namespace?.id
    return try store.engine.commit { batch in
      guard batch.session.state.mayBeDue(at: batch.session.now) else { return false }
      return try !ExpirySweep(of: id).due(limit: 1, &batch.session).isEmpty
    }
  }

  @Test func `the store knows the earliest deadline of all namespaces`() throws {
    let never = UInt64(EntryHeader.never)
    let start = clock.now
    let moment = { UInt64(start.advanced(by: .seconds($0)).milliseconds) }
    #expect(try store.state.nextDue == never)
    try store.namespace("a").set("v", for: "ever")
    #expect(try store.state.nextDue == never)
    try store.namespace("b").set("v", for: "k", expires: .after(.seconds(20)))
    #expect(try store.state.nextDue == moment(20))
    try store.namespace("a").set("v", for: "k", expires: .after(.seconds(10)))
    try store.namespace("c").set("v", for: "k", expires: .after(.seconds(30)))
    #expect(try store.state.nextDue == moment(10))
    // After a removal, `nextDue` is too early. Only a purge at or after `nextDue` corrects this time.
    try store.namespace("a").remove("k")
    try store.purge()
    #expect(try store.state.nextDue == moment(10))
    clock.advance(by: .seconds(10))
    #expect(try store.purge() == RemovalResult())
    #expect(try store.state.nextDue == moment(20))
    clock.advance(by: .seconds(20))
    #expect(try store.purge().entries == 2)
    #expect(try store.state.nextDue == never)
  }

  @Test func `a purge lowers the next deadline for what it indexes anew`() throws {
    try notes.set("v", for: "k", expires: .after(.seconds(1)))
    try notes.touch("k", expires: .after(.seconds(5)))
    let end = UInt64(clock.now.advanced(by: .seconds(5)).milliseconds)
    clock.advance(by: .seconds(1))
    #expect(try store.purge() == RemovalResult())
    #expect(try store.state.nextDue == end)
    #expect(try notes.header("k").deadline == Int64(end))
    clock.advance(by: .seconds(4))
    #expect(try store.purge().entries == 1)
  }

  @Test func `a purge goes from namespace to namespace in batches`() throws {
    // The namespaces have in turn only due entries, due and later entries, only later entries, and entries that never expire.
    var due = 0
    for index in 0..<40 {
      let namespace = store.namespace("n\(index)")
      try store.write { batch in
        for number in 0..<100 {
          let isDue = index % 4 == 0 || index % 4 == 1 && number < 37
          due += isDue ? 1 : 0
          try batch.set(
            "v", for: number, in: namespace,
            expires: index % 4 == 3 ? .never : .after(isDue ? .seconds(1) : .hours(1)))
        }
      }
    }
    clock.advance(by: .seconds(1))
    #expect(try store.purge().entries == due)
    #expect(try store.namespaces().map(\.entries).reduce(0, +) == 4000 - due)
    #expect(try store.purge() == RemovalResult())
    clock.advance(by: .hours(1))
    #expect(try store.purge().entries == 4000 - due - 1000)
  }

  @Test func `a namespace's purge looks at its own records alone`() throws {
    let (many, few) = (store.namespace("many"), store.namespace("few"))
    try many.fill(0..<3000, .with(expires: .after(.seconds(1))))
    try few.set("v", for: "k", expires: .after(.seconds(2)))
    clock.advance(by: .seconds(2))
    let before = try store.statistics().file.transaction
    #expect(try few.purge().entries == 1)
    #expect(try store.statistics().file.transaction - before == 1)
    #expect(try many.count() == 3000)
  }

  @Test func `a writer removes what expired in its namespace, at most what it looks at`() throws {
    for name in ["a", "b", "c"] {
      for number in 0..<10 {
        try store.namespace(name).set(
          "vv", for: number, expires: number < 6 ? .after(.seconds(number)) : .after(.hours(1)))
      }
    }
    let b = store.namespace("b")
    #expect(try removeExpired(store, in: store.namespace("a"), limit: 5).entries == 1)
    clock.advance(by: .seconds(10))
    #expect(try mayHaveExpired(store, in: b))
    #expect(try removeExpired(store, in: b, limit: 4) == RemovalResult(entries: 4, bytes: 8))
    #expect(try removeExpired(store, in: b, limit: 4) == RemovalResult(entries: 2, bytes: 4))
    #expect(try !mayHaveExpired(store, in: b))
    #expect(try mayHaveExpired(store))
    #expect(try removeExpired(store, in: b, limit: 4) == RemovalResult())
    #expect(try b.removals[.expired] == 6)
    #expect(try store.namespaces().map(\.entries) == [9, 4, 10])
    for count in [7, 4] { #expect(try removeExpired(store, limit: 7).entries == count) }
    #expect(try removeExpired(store, limit: 7) == RemovalResult())
    #expect(try !mayHaveExpired(store))
    #expect(try store.namespaces().map(\.entries) == [4, 4, 4])
  }

  @Test func `what lives on is indexed anew by the writer that met it`() throws {
    for number in 0..<6 {
      try notes.set("v", for: number, expires: .after(.seconds(1)))
      if number < 5 { try notes.touch(number, expires: .after(.seconds(10))) }
    }
    clock.advance(by: .seconds(1))
    #expect(try removeExpired(store, in: notes, limit: 3) == RemovalResult())
    #expect(try mayHaveExpired(store, in: notes))
    #expect(try removeExpired(store, in: notes, limit: 3).entries == 1)
    #expect(try !mayHaveExpired(store, in: notes))
    clock.advance(by: .seconds(9))
    #expect(try removeExpired(store, in: notes, limit: 10).entries == 5)
  }

  @Test func `what has expired leaves before any eviction, and no more than is needed`() throws {
    try store.declare(Rules(limits: Limits(entries: 10), eviction: .fifo), for: "notes")
    for number in 0..<10 {
      try notes.set("v", for: number, expires: number < 5 ? .never : .after(.seconds(1)))
    }
    clock.advance(by: .seconds(1))
    for number in 10..<15 {
      try notes.set("v", for: number)
      #expect(try notes.count() == 10)
      #expect(try notes.removals[.expired] == UInt64(number - 9))
      #expect(try notes.removals.evicted == 0)
    }
    try notes.set("v", for: 15)
    #expect(try notes.removals.evicted == 1)
    #expect(try !notes.contains(0))
  }

  @Test func `the same holds for the limits of the store, whatever the namespace`() throws {
    try store.namespace("z").set("v", for: "due", expires: .after(.seconds(1)))
    for number in 0..<9 { try store.namespace("a").set("v", for: number) }
    try store.declare(StoreLimits(entries: 10))
    clock.advance(by: .seconds(1))
    try store.namespace("b").set("v", for: "new")
    #expect(try store.namespaces().map(\.entries) == [9, 1, 0])
    #expect(try store.namespace("z").removals[.expired] == 1)
  }

  @Test func `a namespace without evictions finds expired entries behind refreshed ones`() throws {
    try store.declare(Rules(limits: Limits(entries: 600), eviction: .refuse), for: "notes")
    for number in 0..<600 {
      try notes.set("v", for: number, expires: .after(number < 599 ? .seconds(1) : .seconds(2)))
      if number < 599 { try notes.touch(number, expires: .after(.hours(1))) }
    }
    #expect(failure { try notes.set("v", for: "new") } == .full)
    clock.advance(by: .seconds(2))
    try notes.set("v", for: "new")
    #expect(try notes.removals[.expired] == 1)
    #expect(failure { try notes.set("v", for: "newer") } == .full)
  }

  @Test func `the count of a purge includes what reads have asked to be removed`() throws {
    for namespace in [notes, store.namespace("other")] {
      try namespace.fill(0..<2000, .with(expires: .after(.seconds(1))))
    }
    clock.advance(by: .seconds(1))
    for number in 0..<2000 { _ = try notes.text(number) }
    #expect(try notes.purge().entries == 2000)
    #expect(try store.namespaces().map(\.entries) == [0, 2000])
    #expect(try store.purge().entries == 2000)
  }

  @Test func `a purge visits what is due and nothing else`() throws {
    try notes.fill(0..<10, .with(expires: .after(.seconds(1))))
    try notes.fill(10..<5000, .with(expires: .after(.hours(1))))
    clock.advance(by: .seconds(1))
    let visited = try store.engine.commit(.withoutCleanup) { batch in
      try Purge(engine: store.engine).step(after: nil, only: nil, &batch.session)
    }
    #expect(visited.removal.entries == 10 && visited.reached == nil)
  }

  @Test func `a purge works in batches of five hundred`() throws {
    try notes.fill(0..<2600, .with(expires: .after(.seconds(1))))
    clock.advance(by: .seconds(1))
    let before = try store.statistics().file.transaction
    #expect(try store.purge().entries == 2600)
    #expect(try store.statistics().file.transaction - before == 6)
  }
}
