import Larder
import TestSupport
import Testing

@testable import LarderShared

/// Applies records of the log to the copies of one store. No reader of the log takes part.
@Suite struct ApplyTests {
  private let store: Store
  private let copies: LocalCopies
  private let progress = LocalState.Progress(
    application: "test", epoch: 1, position: .zero, digest: 0)

  init() throws {
    store = try Store.temporary()
    copies = LocalCopies(store, of: "test")
    let (state, progress) = (copies.state, progress)
    try store.write { batch in
      try state.set(progress, in: &batch)
      for name in ["prices", "names"] {
        try state.note(name, in: &batch)
        for key in ["a", "b", String(repeating: "long", count: 500)] {
          try batch.set("old", for: key, in: store.namespace(name))
        }
      }
      try batch.set("own", for: "a", in: store.namespace("own"))
    }
  }

  private func apply(_ subjects: [LogRecord.Subject]) async throws -> Int? {
    let records = subjects.enumerated().map { index, subject in
      LogRecord(position: Self.position(index), digest: 0, previous: 0, subject: subject)
    }
    return try await copies.apply(records, progress, keepsProgress: false)
  }

  private static func position(_ index: Int) -> Position {
    Position(milliseconds: 1, sequence: UInt64(index))
  }

  private static func key(_ key: String, in namespace: String) -> LogRecord.Subject {
    .key(SharedKey(namespace: namespace, bytes: Array(key.utf8)))
  }

  private func keys(in namespace: String) throws -> [String] {
    try store.namespace(namespace).keys().compactMap(\.string).map { String($0.prefix(4)) }
  }

  @Test func recordsOfAbsentKeysCommitNothing() async throws {
    let before = store.lastCommit
    #expect(try await apply((0..<500).map { Self.key("absent \($0)", in: "prices") }) == 0)
    #expect(store.lastCommit == before)
  }

  @Test func recordsOfSeveralNamespacesMayAlternate() async throws {
    let removed = try await apply([
      Self.key("a", in: "prices"), Self.key("a", in: "names"), Self.key("a", in: "own"),
      Self.key("b", in: "prices"), .tag("none"), .nothing, Self.key("a", in: "prices"),
      Self.key("absent", in: "names"), Self.key("a", in: "absent"),
    ])
    #expect(removed == 3)
    let left = try ["prices", "names", "own"].map { try keys(in: $0) }
    #expect(left == [["long"], ["b", "long"], ["a"]])
  }

  /// Another program may write such records. If a record failed, the machine would never read beyond the record.
  @Test func recordsWithNamesThatNoStoreTakesConcernNoCopy() async throws {
    let long = String(repeating: "n", count: 70_000)
    let removed = try await apply([
      .tag(""), .tag(long), .namespace(""), .namespace(long), Self.key("a", in: long),
      Self.key(long, in: "prices"), Self.key("", in: "prices"), Self.key("a", in: "prices"),
    ])
    #expect(removed == 1)
  }

  @Test func aClearedNamespaceLosesItsCopiesAndNoOther() async throws {
    let removed = try await apply([
      Self.key("a", in: "prices"), .namespace("prices"), .namespace("own"),
    ])
    #expect(removed == 3)
    let left = try ["prices", "names", "own"].map { try keys(in: $0) }
    #expect(left == [[], ["a", "b", "long"], ["a"]])
  }

  /// Swift treats the two spellings as equal strings. For the store they are different names, because their bytes differ.
  @Test func spellingsThatUnicodeHoldsForEqualAreApart() async throws {
    let (one, two) = ("caf\u{e9}", "cafe\u{301}")
    try store.write { batch in
      for name in [one, two] {
        try copies.state.note(name, in: &batch)
        try batch.set(
          Array("old".utf8), for: "tagged", in: store.namespace(name), .with(tags: [name]))
        for key in ["a", "b"] { try batch.set("old", for: key, in: store.namespace(name)) }
      }
    }
    #expect(try await apply([Self.key("b", in: one), Self.key("a", in: two)]) == 2)
    _ = try await apply([.tag(one), .tag(two)])
    #expect(try [keys(in: one), keys(in: two)] == [["a"], ["b"]])
    let slots = [one, two].map { RecentChanges.slot(of: .namespace($0)) }
    #expect(slots[0] != slots[1])
  }

  /// After a failover to an old replica, the new log may begin at an earlier position than the newest position of the old log.
  @Test func aTicketTakenWhileAHistoryBeginsStoresNothing() async throws {
    copies.recent.publish(applied: Self.position(9), head: Self.position(9))
    var ticket: LocalCopies.Ticket?
    let begun = try await copies.begin("test", insteadOf: progress.epoch) {
      ticket = try copies.ticket()
      return LogRecord(position: Self.position(3), digest: 1, previous: nil, subject: .nothing)
    }
    let taken = try #require(ticket)
    #expect(taken.epoch == begun?.epoch)
    let key = SharedKey(namespace: "prices", bytes: [1])
    let isStored = try await store.commit { [copies] batch in
      try copies.mayStoreUnshared(
        ValueStamp(version: taken.applied, written: 0), taken, for: key, tags: [], in: &batch)
    }
    #expect(!isStored)
    #expect(copies.recent.applied == Self.position(3))
  }

  /// After a record, the machine refuses older values of the keys that the record concerns, and of no other keys.
  @Test func recordsAreNotedUnderTheNamesThatWritersAskFor() async throws {
    let long = String(repeating: "long", count: 500)
    let subjects: [LogRecord.Subject] = [
      Self.key("a", in: "prices"), Self.key("ab", in: "prices"), Self.key(long, in: "prices"),
      Self.key("a", in: "names"), Self.key("", in: "names"), .namespace("all"), .tag("t"),
    ]
    _ = try await apply(subjects)
    for (index, subject) in subjects.enumerated() {
      let position = Self.position(index)
      #expect(copies.recent.isCurrent([subject], at: position), "\(subject)")
      var before = position
      if index > 0 { before.sequence -= 1 } else { before = .zero }
      #expect(!copies.recent.isCurrent([subject], at: before), "\(subject)")
    }
  }
}
