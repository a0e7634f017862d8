import LMDB
import LarderSystem
import Testing

@testable import Larder

/// Removals of entries that many others belong to: bounded in each transaction, without recursion, complete in the end.
@Suite struct OwnerChainTests {
  private func owned(by key: String) -> EntryAttributes {
    var attributes = EntryAttributes()
    attributes.owners = [Owner(Key(key), in: "notes")]
    return attributes
  }

  /// Entries 0 to `count`, each of which belongs to the one before.
  private func makeChain(_ count: Int, in store: Store) throws {
    let notes = store.namespace("notes")
    try notes.set("0", for: "0")
    for start in stride(from: 1, through: count, by: 1000) {
      try store.write { batch in
        for index in start...min(count, start + 999) {
          try batch.set([1], for: "\(index)", in: notes, owned(by: "\(index - 1)"))
        }
      }
    }
  }

  /// Entries that all belong to the entry 0.
  private func makeStar(_ count: Int, in store: Store) throws {
    let notes = store.namespace("notes")
    try notes.set("0", for: "0")
    try store.write { batch in
      for index in 1...count { try batch.set([1], for: "\(index)", in: notes, owned(by: "0")) }
    }
  }

  private func commits(_ store: Store, _ body: () throws -> Void) throws -> UInt64 {
    let before = store.engine.environment.lastTransaction
    try body()
    return store.engine.environment.lastTransaction - before
  }

  @Test(arguments: ["remove", "expire", "batch"])
  func `a chain of 20,000 owners goes, in bounded transactions and on a small stack`(
    how: String
  ) throws {
    try withStore { store, clock in
      let notes = store.namespace("notes")
      try makeChain(20_000, in: store)
      try notes.set("stays", for: "other")
      let commits = try commits(store) {
        switch how {
        case "remove": #expect(try notes.remove("0"))
        case "expire":
          try notes.touch("0", expires: .after(.seconds(1)))
          clock.advance(by: .seconds(2))
          #expect(try store.purge().entries == 1)
          // A purge leaves the rest to the next writers.
          try notes.set("x", for: "other")
        default: #expect(try store.write { batch in try batch.remove("0", from: notes) })
        }
      }
      #expect(commits >= 20, "1,000 at a time")
      #expect(try notes.keysByPages(of: 10) == [Key("other")])
      #expect(try notes.removals[.orphaned] == 20_000)
      #expect(try store.state.orphans == 0)
    }
  }

  @Test func `5,000 entries of one owner go, 1,000 in each transaction`() throws {
    try withStore { store, _ in
      let notes = store.namespace("notes")
      try makeStar(5_000, in: store)
      #expect(try commits(store) { try notes.remove("0") } >= 5)
      #expect(try notes.count() == 0)
    }
  }

  @Test func `what a killed process has left is removed by later writes of any kind`() throws {
    try withStore { store, _ in
      let notes = store.namespace("notes")
      try makeStar(3_500, in: store)
      // One transaction, and nothing after it: as a kill behind the commit leaves it.
      guard
        case .committed = try store.engine.attempt(
          .withoutCleanup, { batch in _ = try batch.remove("0", from: notes) })
      else {
        Issue.record("not committed")
        return
      }
      #expect(try store.state.orphans == 1)
      #expect(try notes.count() == 2_500)
      #expect(try store.verify().faults == [])
      guard case .committed = try store.engine.attempt(.withoutCleanup, { _ in }) else { return }
      #expect(try notes.count() == 1_500)
      #expect(try store.verify().faults == [])
      try store.namespace("others").set("x", for: "y")
      #expect(try notes.count() == 0)
    }
  }

  @Test func `an owner that is written again before the rest was removed keeps the rest`() throws {
    try withStore { store, _ in
      let notes = store.namespace("notes")
      try makeStar(2_500, in: store)
      _ = try store.engine.attempt(.withoutCleanup) { batch in
        _ = try batch.remove("0", from: notes)
        try batch.set("again", for: "0", in: notes)
      }
      try notes.set("x", for: "x")
      #expect(try notes.count() == 1_502)
      #expect(try store.state.orphans == 0)
    }
  }

  @Test func `entries that own each other in a ring all go`() throws {
    try withStore { store, _ in
      let notes = store.namespace("notes")
      try makeChain(50, in: store)
      #expect(
        try store.write { batch in
          try batch.setOwners([Owner(Key("50"), in: "notes")], of: "0", in: notes)
        })
      #expect(try notes.remove("25"))
      #expect(try notes.count() == 0)
    }
  }
}
