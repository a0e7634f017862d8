import LMDB
import LarderSystem
import TestSupport
import Testing

@testable import Larder

@Suite struct ReadingTests: StoreSuite {
  let fixture = StoreFixture()

  @Test func `a snapshot reads its own store through a namespace of another store`() throws {
    let options = with(Store.Options()) { $0.writeBuffer = 0 }
    let one = try Store.temporary(options: options)
    let other = try Store.temporary(options: options)
    for name in ["x", "notes"] { try one.namespace(name).set("one", for: "k") }
    for name in ["notes", "x"] { try other.namespace(name).set(name, for: "k") }
    let foreign = other.namespace("notes")
    #expect(try one.read { try $0.value(for: "k", in: foreign) } == Array("one".utf8))
    #expect(try foreign.text("k") == "notes")
  }

  @Test(arguments: [1, 200, 4096, 5000, 100_000, 3_000_000])
  func `a lent value lies in the store's map and nowhere else`(size: Int) throws {
    let value = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    try notes.set(value, for: "k")
    let first = try #require(try notes.withValue(for: "k") { ($0.address, $0.copied) })
    #expect(first.1 == value)
    #expect(try notes.withValue(for: "k") { bytes in bytes.address } == first.0)
    let moment = try store.read { try $0.withValue(for: "k", in: notes) { bytes in bytes.address } }
    #expect(moment == first.0)
    let transaction = try store.engine.beginRead()
    let region = try #require(try transaction.find(notes.slot("k"), in: .entries))
    let address = transaction.bytes(of: region).address
    #expect(address + UInt(region.count) == first.0 + UInt(size))
    let copy = try #require(try notes.bytes("k"))
    #expect(copy.span.address != first.0)
  }

  @Test func `every read of one moment sees the same commits`() throws {
    for key in ["a", "b"] { try notes.set("1", for: key) }
    try store.read { moment in
      #expect(try moment.value(for: "a", in: notes) == Array("1".utf8))
      try store.write { batch in
        for key in ["a", "b", "c"] { try batch.set("2", for: key, in: notes) }
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
    // The snapshot of a read that is still open would be older than the last write, so the age of the read would not be 0.
    #expect(try store.statistics().readers.compactMap(\.age).allSatisfy { $0 == 0 })
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

  /// The argument 1,000 stands for chunks that a compaction has copied from a file with other pages.
  @Test(arguments: [nil, 4080, 1000])
  func `pieces are the bytes of the value, in one record or in chunks`(chunkSize: Int?) throws {
    try withNotes(chunksAbove: chunkSize) { store, notes, _ in
      let value = (0..<100_003).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 >> 8) }
      try notes.set(value, for: "k")
      if let chunkSize, let first = try store.keys(in: \.chunks).first {
        for (index, start) in stride(from: 0, to: value.count, by: chunkSize).enumerated() {
          let key = Array(first.dropLast()) + [UInt8(index)]
          let chunk = Array(value[start...].prefix(chunkSize))
          try store.plant(chunk, for: key, in: store.engine.indexes.chunks)
        }
      }
      var random = SeededRNG(seed: TestSettings.seed)
      for _ in 0..<200 {
        let start = Int.random(in: 0...value.count, using: &random)
        let end = Int.random(in: start...value.count, using: &random)
        let piece = try notes.piece(of: "k", start..<end, as: .next) { _ in true }
        #expect(piece == Array(value[start..<end]), "\(start)..<\(end), seed \(TestSettings.seed)")
      }
      let beyond = try notes.piece(of: "k", 100_000..<200_000, as: .next) { _ in true }
      #expect(beyond == Array(value[100_000...]))
      #expect(try notes.piece(of: "k", 0..<1, as: .first) { _ in false } == nil)
      #expect(try notes.piece(of: "no", 0..<1, as: .first) { _ in true } == nil)
    }
  }

  @Test func `a checksum in pieces is that of the whole`() {
    var random = SeededRNG(seed: TestSettings.seed)
    for count in Array(0...200) + [4096, 10_007] {
      let bytes = random.bytes(count)
      var stream = Checksum.Stream(seed: 3)
      var offset = 0
      while offset < count {
        let end = min(count, offset + Int.random(in: 0...100, using: &random))
        stream.append(Array(bytes[offset..<end]).span)
        offset = end
      }
      #expect(stream.result == Checksum.of(bytes.span, seed: 3), "\(count), seed \(random.seed)")
    }
  }

  private func read(_ notes: Store.Namespace, _ key: String) throws -> [UInt8]? {
    try notes.withEntry(for: key) { entry, value in
      #expect(entry.key == Key(key) && entry.size == value.count)
      return value.copied
    }
  }

  @Test(arguments: [nil, 1000])
  func `one lookup lends the facts and the value, of any kind of entry`(chunksAbove: Int?) throws {
    try withNotes(chunksAbove: chunksAbove) { _, notes, clock in
      let long = String(repeating: "long ", count: 100)
      let attributes = EntryAttributes.with(
        expires: .after(.hours(1)), stale: .hours(1), tags: ["tag"])
      for (key, count) in [("short", 3), (long, 4), ("large", 9000)] {
        try notes.set([UInt8](repeating: 7, count: count), for: key, attributes)
        let before = try notes.reads
        #expect(try read(notes, key)?.count == count)
        #expect(try notes.reads == before, "an inspection counts nothing")
      }
      #expect(try read(notes, "absent") == nil)
      clock.advance(by: .minutes(70))
      #expect(try read(notes, "short")?.count == 3)
      clock.advance(by: .minutes(70))
      #expect(try read(notes, "large")?.count == 9000, "expired entries are included")
    }
  }

  @Test func `a lookup has the facts of a listing, also of an entry without fields`() throws {
    for (number, expires) in [Expiration.never, .after(.hours(1)), .after(.days(9))].enumerated() {
      var attributes = EntryAttributes(expires: expires)
      for (key, pinned) in [("k", nil), ("pinned", true)] as [(String, Bool?)] {
        attributes.isPinned = pinned
        try notes.set(Array("value".utf8), for: "\(key)\(number)", attributes)
      }
      attributes.stale = .hours(1)
      try notes.set(Array("value".utf8), for: "stale\(number)", attributes)
      attributes.tags = ["tag"]
      try notes.set(Array("value".utf8), for: "tagged\(number)", attributes)
    }
    for _ in 0..<3 {
      var listed: [Store.Entry] = []
      try notes.scan(includingExpired: true) { entry, _ in
        listed.append(entry)
        return true
      }
      #expect(listed.count == 12)
      for entry in listed { #expect(try notes.entry(for: entry.key) == entry) }
      clock.advance(by: .minutes(50))
    }
    #expect(try notes.entry(for: "k1")?.state == .expired)
    #expect(try notes.entry(for: "pinned0")?.isPinned == true)
  }

  @Test func `facts and value are of one version, and a damaged entry is lent to no one`() throws {
    try notes.set([1, 2], for: "k")
    try store.read { snapshot in
      let version = try #require(try snapshot.entry(for: "k", in: notes)).version
      try notes.set([1, 2, 3], for: "k")
      #expect(try snapshot.entry(for: "k", in: notes)?.version == version)
      #expect(try snapshot.value(for: "k", in: notes) == [1, 2])
    }
    try notes.tamper("k") { $0[$0.count - 1] ^= 1 }
    #expect(try read(notes, "k") == nil)
    try notes.remove("k")
  }
}
