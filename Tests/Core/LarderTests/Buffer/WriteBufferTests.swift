import Foundation
import LarderPeer
import LarderSystem
import TestSupport
import Testing

@testable import LMDB
@testable import Larder

/// Entries of the write buffer are entries like all others, for whoever asks.
@Suite struct WriteBufferTests {
  private static func options(_ durability: Durability? = nil) -> Store.Options {
    var options = Store.Options()
    options.durability = durability
    options.writeBuffer = 256 << 10
    options.checkpointInterval = .seconds(3600)
    return options
  }

  /// A store whose namespace `notes` is known, so that the next `set` is appended.
  private func withBuffered(_ body: (Store, Store.Namespace) throws -> Void) throws {
    try withTemporaryDirectory { path in
      let store = try Store(at: path + "/s", options: Self.options())
      let notes = store.namespace("notes")
      // The first commit makes the namespace; after the second one its rules are known.
      for _ in 0..<2 { try notes.set("first", for: "first") }
      try body(store, notes)
      #expect(try store.verify().faults == [])
      try store.close()
    }
  }

  private func isBuffered(_ store: Store) -> Bool { store.engine.reader.buffer!.hasRecords }

  @Test func `a set makes no commit, and a read finds it`() throws {
    try withBuffered { store, notes in
      let commit = store.engine.environment.lastTransaction
      for number in 0..<100 { try notes.set("\(number)", for: "key \(number % 10)") }
      #expect(store.engine.environment.lastTransaction == commit)
      #expect(isBuffered(store))
      for key in 0..<10 { #expect(try notes.text("key \(key)") == "\(90 + key)") }
      #expect(try notes.entry(for: "key 3")?.size == 2)
      #expect(try notes.contains("key 4"))
      #expect(isBuffered(store))
    }
  }

  @Test func `counts, scans, snapshots and batches have the entries`() throws {
    try withBuffered { store, notes in
      try notes.set("one", for: "a")
      #expect(try notes.count() == 2)
      try notes.set("two", for: "b")
      #expect(try store.read { try $0.value(for: "b", in: notes) } == Array("two".utf8))
      try notes.set("three", for: "c")
      try store.write { batch in
        #expect(try batch.value(for: "c", in: notes) == Array("three".utf8))
        try batch.set("four", for: "d", in: notes)
      }
      try notes.set("five", for: "e")
      #expect(try notes.keys() == ["a", "b", "c", "d", "e", "first"].map { Key($0) })
    }
  }

  @Test func `removals, touches and clears come behind the entries`() throws {
    try withBuffered { store, notes in
      try notes.set("one", for: "a")
      #expect(try notes.remove("a"))
      #expect(try notes.text("a") == nil)
      try notes.set("two", for: "b")
      #expect(try notes.touch("b", expires: .after(.hours(1))))
      #expect(try notes.entry(for: "b")?.expires != nil)
      try notes.set("three", for: "c")
      try notes.clear()
      #expect(try notes.text("c") == nil)
      #expect(try notes.count() == 0)
      try notes.set("four", for: "d")
      #expect(try notes.count() == 1)
    }
  }

  @Test func `versions rise, whoever writes`() throws {
    try withBuffered { store, notes in
      var last: UInt64 = 0
      for number in 0..<30 {
        if number % 3 == 0 {
          try store.write { try $0.set("v", for: "k", in: notes) }
        } else {
          try notes.set("v", for: "k")
        }
        let version = try #require(try notes.entry(for: "k")?.version)
        #expect(version > last)
        last = version
      }
    }
  }

  @Test func `a limit holds at every moment`() throws {
    try withTemporaryDirectory { path in
      let store = try Store(at: path + "/s", options: Self.options())
      let notes = store.namespace("notes")
      try store.declare(Rules(limits: Limits(entries: 20)), for: "notes")
      for number in 0..<200 {
        try notes.set("\(number)", for: "key \(number)")
        if number % 7 == 0 { #expect(try notes.count() <= 20) }
        #expect(try notes.text("key \(number)") == "\(number)")
      }
      #expect(try store.verify().faults == [])
      try store.close()
    }
  }

  @Test
  func `a change of the files keeps what a killed process has left, and no open store is closed`()
    throws
  {
    try withTemporaryDirectory { path in
      let writer = try OtherProcess("buffered", path + "/s", "0", "262144", "7")
      #expect(writer.line() == "open")
      for _ in 0..<20 { _ = writer.line() }
      writer.kill()
      var last = 20
      while let line = writer.line() { last = Int(line) ?? last }
      try Store.change(durability: .scratch, ofStoreAt: path + "/s")
      _ = try Store.compact(at: path + "/s")
      let store = try Store(at: path + "/s", options: Self.options(.scratch))
      let numbers = store.namespace("numbers-0")
      let value: [UInt8]? = try numbers.value(for: last % BufferedNumber.keys)
      #expect(value.flatMap { BufferedNumber.number($0) } ?? 0 >= last)
      #expect(failure { try Store.change(durability: .durable, ofStoreAt: store.path) } != nil)
      for _ in 0..<2 { try numbers.set([1], for: "still open") }
      #expect(try store.verify().faults == [])
      try store.close()
    }
  }

  @Test func `values in memory are never older than the last set`() throws {
    try withBuffered { store, _ in
      let (cache, numbers) = (store.cache(TextCodec(), in: "numbers"), store.namespace("numbers"))
      for number in 0..<200 {
        try cache.set("\(number)", for: "n")
        #expect(try cache.value(for: "n") == "\(number)")
        try numbers.set("\(-number)", for: "n")
        #expect(try cache.value(for: "n") == "\(-number)")
      }
    }
  }

  @Test func `entries expire to the millisecond`() throws {
    try withTemporaryDirectory { path in
      let clock = ManualClock()
      var options = Self.options()
      options.clock = clock
      let store = try Store(at: path + "/s", options: options)
      let notes = store.namespace("notes")
      // The first commit makes the namespace; after the second one its rules are known.
      for _ in 0..<2 { try notes.set("first", for: "first") }
      try notes.set("short", for: "a", expires: .after(.milliseconds(500)))
      #expect(isBuffered(store))
      clock.advance(by: .milliseconds(499))
      #expect(try notes.text("a") == "short")
      clock.advance(by: .milliseconds(1))
      #expect(try notes.text("a") == nil)
      #expect(try notes.purge().entries == 1)
      #expect(try store.verify().faults == [])
      try store.close()
    }
  }
}
