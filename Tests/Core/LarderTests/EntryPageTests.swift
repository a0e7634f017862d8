import Foundation
import TestSupport
import Testing

@testable import Larder

@Suite struct EntryPageTests {
  private static let pageSize = 4096

  let directory = TemporaryDirectory()

  private var path: String { directory.path + "/store" }

  private func makeStore() throws -> UInt32 {
    let store = try Store(at: path)
    try store.write { batch in
      for number in 0..<1000 {
        try batch.set("\(number)", for: "key-\(number)", in: store.namespace("notes"))
      }
    }
    let id = try #require(try store.namespace("notes").number())
    try store.close()
    return id
  }

  /// The offsets of the stored key of an entry in the data file. The stored key begins with the namespace id.
  private func places(of key: String, in id: UInt32, _ data: Data) -> [Int] {
    let prefix = (0..<4).map { UInt8(truncatingIfNeeded: id >> (24 - 8 * $0)) }
    let bytes = Data(prefix + Array(key.utf8) + [0])
    var places: [Int] = []
    while let found = data.range(of: bytes, in: (places.last.map { $0 + 1 } ?? 0)..<data.count) {
      places.append(found.lowerBound)
    }
    return places
  }

  @Test func `verify reports a damaged page of entries and does not throw`() throws {
    let id = try makeStore()
    try changeDataFile(of: path) { data in
      let places = places(of: "key-500", in: id, data)
      #expect(!places.isEmpty)
      // Erases the flags of the page, which say what kind of page it is. A page without flags is damaged.
      for place in places { data[place / Self.pageSize * Self.pageSize + 10] = 0 }
    }
    let store = try Store(at: path)
    #expect(failure { _ = try store.namespace("notes").text("key-500") } == .damaged)
    let verification = try store.verify()
    #expect(verification.faults.contains { $0.kind == .pages })
  }

  @Test func `verify reports a damaged page of chunks, and goes on`() throws {
    let options = with(Store.Options()) { $0.hooks.chunksAbove = 2000 }
    let store = try Store(at: path, options: options)
    let notes = store.namespace("notes")
    // Opening a store checks the root page. With 300 entries, the damaged page is another page, so the store opens.
    for key in 0..<300 { try notes.set([UInt8](repeating: 1, count: 5000), for: key) }
    let chunks = try store.keys { $0.chunks }
    try store.close()
    try changeDataFile(of: path) { data in
      let places = data.ranges(of: Data(chunks[0]))
      #expect(!places.isEmpty)
      for place in places { data[place.lowerBound / Self.pageSize * Self.pageSize + 10] = 0 }
    }
    let damaged = try Store(at: path, options: options)
    let verification = try damaged.verify()
    #expect(verification.faults.contains { $0.kind == .pages })
    #expect(verification.entries == 300)
  }

  @Test func `verify reports a page that is neither in use nor free, as a write does`() throws {
    _ = try makeStore()
    try changeDataFile(of: path) { data in
      for meta in 0..<2 { data[meta * Self.pageSize + 136] += 1 }
      data.append(Data(count: Self.pageSize))
    }
    let store = try Store(at: path)
    #expect(try store.verify().faults.map(\.kind) == [.pages])
    #expect(failure { try store.namespace("notes").set("v", for: "k") } == .damaged)
  }

  @Test func `a key that is damaged to one of another namespace does not end a scan in silence`()
    throws
  {
    let id = try makeStore()
    try changeDataFile(of: path) { data in
      for place in places(of: "key-500", in: id, data) { data[place] = 0x40 }
    }
    let notes = try Store(at: path).namespace("notes")
    #expect(failure { try notes.scan { _, _ in true } } == .damaged)
    #expect(failure { try notes.scanValues { _, _ in true } } == .damaged)
    #expect(failure { _ = try notes.keys() } == .damaged)
    #expect(failure { try notes.scan(prefix: "key-50") { _, _ in true } } == .damaged)
  }
}
