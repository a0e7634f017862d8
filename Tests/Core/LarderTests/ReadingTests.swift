import LMDB
import LarderSystem
import TestSupport
import Testing

@testable import Larder

@Suite struct ReadingTests: StoreSuite {
  let fixture = StoreFixture()

  @Test(arguments: [1, 200, 4096, 5000, 100_000, 3_000_000])
  func `a lent value lies in the store's map and nowhere else`(size: Int) throws {
    let value = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    try notes.set(value, for: "k")
    let first = try #require(
      try notes.withValue(for: "k") { bytes in (bytes.address, bytes.copied) })
    #expect(first.1 == value)
    #expect(try notes.withValue(for: "k") { bytes in bytes.address } == first.0)
    let moment = try store.read { moment in
      try moment.withValue(for: "k", in: notes) { bytes in bytes.address }
    }
    #expect(moment == first.0)
    let transaction = try store.engine.beginRead()
    let id = try store.engine.reader.identify(notes.handle, in: transaction)
    let region = try #require(
      try transaction.find(StoredKey.entry(Array("k".utf8).span, in: id), in: .entries))
    #expect(region.address + UInt(region.count) == first.0 + UInt(size))
    let copy = try #require(try notes.bytes("k"))
    #expect(copy.span.address != first.0)
  }

  @Test func `every read of one moment sees the same commits`() throws {
    try notes.set("1", for: "a")
    try notes.set("1", for: "b")
    try store.read { moment in
      #expect(try moment.value(for: "a", in: notes) == Array("1".utf8))
      try store.write { batch in
        try batch.set("2", for: "a", in: notes)
        try batch.set("2", for: "b", in: notes)
        try batch.set("2", for: "c", in: notes)
      }
      try store.namespace("notes").remove("b")
      #expect(try moment.value(for: "b", in: notes) == Array("1".utf8))
      #expect(try !moment.contains("c", in: notes))
      try notes.clear()
      try store.rename("notes", to: "other")
      #expect(try moment.value(for: "a", in: notes) == Array("1".utf8))
      #expect(try moment.value(for: "a", in: store.namespace("other")) == nil)
      #expect(try notes.text("a") == nil)
    }
    #expect(try store.statistics().readers.allSatisfy { $0.age == nil || $0.age == 0 })
  }

  @Test func `an error thrown while a value is lent comes out and ends the read`() throws {
    try notes.set("a", for: "k")
    for _ in 0..<100 {
      #expect(throws: Stop.self) { try notes.withValue(for: "k") { _ in throw Stop() } }
      #expect(throws: Stop.self) { try store.read { _ in throw Stop() } }
      #expect(throws: Stop.self) { try notes.scan { _, _ in throw Stop() } }
    }
    try notes.set("b", for: "k")
    // If one of the reads were still open, its snapshot would be older than the last write, and its age would not be 0.
    let ages = try store.statistics().readers.compactMap(\.age)
    #expect(ages.allSatisfy { $0 == 0 })
  }

  @Test func `a lookup among many entries takes no longer than among few`() throws {
    func best(_ name: String) throws -> Duration {
      let notes = store.namespace(name)
      return try (0..<5).map { _ in
        try processorTime { for key in 0..<500 { _ = try notes.contains(key % 100) } }
      }.min()!
    }
    try store.namespace("few").fill(0..<100)
    try store.namespace("many").fill(0..<20_000)
    let (few, many) = (try best("few"), try best("many"))
    #expect(many < few * 10, "\(few) among 100, \(many) among 20,000")
  }
}
