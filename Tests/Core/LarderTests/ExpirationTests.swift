import Foundation
import LMDB
import LarderSystem
import TestSupport
import Testing

@testable import Larder

@Suite struct ExpirationTests {
  @Test func `times at the ends of what can be said neither trap nor wrap`() throws {
    try withNotes(Rules(stale: .days(Int.max))) { store, notes, _ in
      let lasting: [Expiration] = [
        .after(.seconds(Int64.max)), .after(.days(Int.max)), .after(.days(UInt64.max)),
        .at(Timestamp(milliseconds: .max)), .at(Timestamp(Date.distantFuture)),
        .at(Timestamp(Date(timeIntervalSince1970: .infinity))),
        .at(Timestamp(Date(timeIntervalSince1970: 1e300))), .at(Timestamp(milliseconds: .max - 1)),
      ]
      for (index, expiration) in lasting.enumerated() {
        try notes.set("a", for: index, expires: expiration)
        #expect(try notes.text(index) == "a", "\(expiration)")
        #expect(try notes.entry(for: index) != nil)
        #expect(try notes.touch(index, expires: expiration))
      }
      try store.declare(Rules(), for: "notes")
      let over: [Expiration] = [
        .after(.seconds(Int64.min)), .after(.days(Int.min)), .at(Timestamp(milliseconds: .min)),
        .at(Timestamp(milliseconds: -1)), .at(Timestamp(milliseconds: 0)),
        .at(Timestamp(Date.distantPast)), .at(Timestamp(Date(timeIntervalSince1970: -.infinity))),
        .at(Timestamp(Date(timeIntervalSince1970: -1e300))),
      ]
      for (index, expiration) in over.enumerated() {
        try notes.set("a", for: "over \(index)", expires: expiration)
      }
      #expect(try store.purge().entries == over.count)
      for (index, expiration) in over.enumerated() {
        try notes.set("a", for: "over \(index)", expires: expiration)
        #expect(try notes.text("over \(index)") == nil, "\(expiration)")
      }
      #expect(try notes.count() == lasting.count)
    }
  }

  @Test func `a date leads to the millisecond it was made from`() {
    for step in Int64(0)..<5000 {
      let moment = Timestamp(milliseconds: 1_767_225_600_000 + step * 7)
      #expect(Timestamp(moment.date) == moment)
    }
    #expect(Timestamp(milliseconds: .min).duration(to: Timestamp(milliseconds: .max)) > .days(1))
    #expect(Timestamp(milliseconds: 1_767_225_600_007).description == "2026-01-01T00:00:00.007Z")
    // RFC 3339 has no years after 9999, so the description of a later time is a number of milliseconds.
    let last = Timestamp(milliseconds: 253_402_300_799_999)
    #expect(last.description == "9999-12-31T23:59:59.999Z")
    #expect(last.advanced(by: .milliseconds(1)).description == "253402300800000 ms since 1970")
    #expect(Timestamp(milliseconds: .min).description == "\(Int64.min) ms since 1970")
  }
}

@Suite struct NextExpiryTests: StoreSuite {
  let fixture = StoreFixture()

  @Test func `each namespace tells when its next entry ends`() throws {
    let start = clock.now
    try store.namespace("many").fill(0..<20_000, .with(expires: .after(.hours(1))))
    try store.namespace("one").set([1], for: "late", expires: .after(.days(7)))
    try store.namespace("one").set([1], for: "early", expires: .after(.days(2)))
    try store.namespace("none").set([1], for: "ever")
    #expect(
      try store.nextExpiries() == [
        "many": start.advanced(by: .hours(1)), "one": start.advanced(by: .days(2)),
      ])
  }

  @Test func `however many were refreshed or wait for a purge, the answer is exact`() throws {
    let start = clock.now
    try store.write { batch in
      for index in 0..<15_000 {
        try batch.set([1], for: index, in: notes, expires: .after(.minutes(1)))
        if index >= 7000 { try batch.touch(index, in: notes, expires: .after(.hours(2))) }
      }
      try batch.set([1], for: "next", in: notes, expires: .after(.hours(1)))
    }
    clock.advance(by: .minutes(10))
    #expect(try store.nextExpiries() == ["notes": start.advanced(by: .hours(1))])
    clock.advance(by: .minutes(50))
    #expect(try store.nextExpiries() == ["notes": start.advanced(by: .hours(2))])
    clock.advance(by: .hours(1))
    #expect(try store.nextExpiries() == [:])
  }

  @Test func `an entry that may be served stale counts until it stops being fresh`() throws {
    let start = clock.now
    try store.declare(Rules(expires: .after(.minutes(5)), stale: .hours(1)), for: "notes")
    try notes.set("a", for: "a")
    try notes.set("b", for: "b", expires: .after(.minutes(20)))
    #expect(try store.nextExpiries() == ["notes": start.advanced(by: .minutes(5))])
    clock.advance(by: .minutes(10))
    #expect(try store.nextExpiries() == ["notes": start.advanced(by: .minutes(20))])
    clock.advance(by: .minutes(20))
    #expect(try store.nextExpiries() == [:])
  }
}

@Suite struct `Lazy deadlines`: StoreSuite {
  let fixture = StoreFixture()

  /// The records of the index databases in the main database. Each record has the number of the root page of its index. LMDB
  /// changes no page in place, so a write to any page of an index changes this record.
  private func indexes() throws -> [String: [UInt8]] {
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

  private func filled(_ eviction: Eviction) throws {
    try store.declare(Rules(expires: .after(.hours(1)), eviction: eviction), for: "notes")
    try notes.fill(0..<500, with: [1, 2, 3], tagged())
  }

  @Test(arguments: [Eviction.adaptive, .refuse])
  func `overwriting with a later deadline writes an entry and no index`(eviction: Eviction) throws {
    try filled(eviction)
    let before = try indexes()
    clock.advance(by: .minutes(10))
    let attributes = tagged()
    for key in 0..<20 { try notes.set([4, 5, 6, 7], for: key, attributes) }
    try store.write { batch in
      for key in 20..<400 { try batch.set([8], for: key, in: notes, attributes) }
      for key in 400..<500 { try batch.touch(key, in: notes) }
    }
    #expect(try indexes() == before)
    clock.advance(by: .minutes(55))
    #expect(try notes.bytes(7) == [4, 5, 6, 7])
    #expect(try notes.count() == 500)
  }

  @Test func `an earlier deadline, and a new entry, are indexed at once`() throws {
    try filled(.adaptive)
    let before = try indexes()
    try notes.set([1], for: 3, tagged(.after(.minutes(5))))
    let earlier = try indexes()
    #expect(earlier["deadlines"] != before["deadlines"])
    #expect(earlier["queue"] == before["queue"] && earlier["tags"] == before["tags"])
    try notes.set([1], for: "new")
    #expect(try indexes()["queue"] != before["queue"])
  }
}
