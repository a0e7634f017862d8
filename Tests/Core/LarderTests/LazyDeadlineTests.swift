import LMDB
import LarderSystem
import TestSupport
import Testing

@testable import Larder

@Suite struct `Lazy deadlines` {
  /// The records of the index databases in the main database. Each record has the number of the root page of its index. LMDB
  /// changes no page in place, so a write to any page of an index changes this record.
  private func indexes(_ store: Store) throws -> [String: [UInt8]] {
    let transaction = try store.engine.beginRead()
    var roots: [String: [UInt8]] = [:]
    for name in Indexes.names.dropFirst() {
      let record = try #require(try transaction.find(Array(name.utf8).span, in: .main))
      roots[name] = transaction.bytes(of: record).copied
    }
    return roots
  }

  private func tagged(_ expires: Expiration? = nil) -> EntryAttributes {
    EntryAttributes.with(expires: expires, tags: ["even", "all"])
  }

  private func filled(_ store: Store, _ eviction: Eviction) throws -> Store.Namespace {
    let notes = store.namespace("notes")
    try store.declare(Rules(expires: .after(.hours(1)), eviction: eviction), for: "notes")
    try notes.fill(0..<500, with: [1, 2, 3], tagged())
    return notes
  }

  @Test(arguments: [Eviction.adaptive, .refuse])
  func `overwriting with a later deadline writes the entry and no index`(eviction: Eviction)
    throws
  {
    try withStore { store, clock in
      let notes = try filled(store, eviction)
      let before = try indexes(store)
      clock.advance(by: .minutes(10))
      let attributes = tagged()
      for key in 0..<20 { try notes.set([4, 5, 6, 7], for: key, attributes) }
      try store.write { batch in
        for key in 20..<400 { try batch.set([8], for: key, in: notes, attributes) }
        for key in 400..<500 { try batch.touch(key, in: notes) }
      }
      #expect(try indexes(store) == before)
      clock.advance(by: .minutes(55))
      #expect(try notes.bytes(7) == [4, 5, 6, 7])
      #expect(try notes.count() == 500)
    }
  }

  @Test func `an earlier deadline, and a new entry, are indexed at once`() throws {
    try withStore { store, _ in
      let notes = try filled(store, .adaptive)
      let before = try indexes(store)
      try notes.set([1], for: 3, tagged(.after(.minutes(5))))
      let earlier = try indexes(store)
      #expect(earlier["deadlines"] != before["deadlines"])
      #expect(earlier["queue"] == before["queue"] && earlier["tags"] == before["tags"])
      try notes.set([1], for: "new")
      #expect(try indexes(store)["queue"] != before["queue"])
    }
  }
}
