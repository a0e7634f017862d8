import TestSupport
import Testing

@testable import Larder

struct MetadataTests {
  @Test(arguments: [1, 5_000, 30_000], [nil, 1_000])
  func `what is kept beside a value changes without it being written anew`(
    size: Int, chunksAbove: Int?
  ) throws {
    try withStore(chunksAbove: chunksAbove) { store, clock in
      let (articles, images) = (store.namespace("articles"), store.namespace("images"))
      for key in ["1", "2", "3"] { try articles.set("text", for: key) }
      let owners = ["1", "2", "3"].map { Owner(Key($0), in: "articles") }
      let key = String(repeating: "long ", count: 300)
      let bytes = [UInt8](repeating: 7, count: size)
      try images.set(
        bytes, for: key,
        .with(
          expires: .after(.hours(1)), stale: .hours(1), tags: ["a"],
          owners: [owners[0]], entityTag: [1, 2]))
      let before = try images.entry(for: key)!
      clock.advance(by: .minutes(10))
      /// Expects that only the metadata and the owners have changed.
      func expectSame() throws {
        var after = try images.entry(for: key)!
        (after.metadata, after.owners) = (nil, before.owners)
        (after.storedSize, after.lastUsed) = (before.storedSize, before.lastUsed)
        #expect(after == before)
        #expect(try images.bytes(key) == bytes)
        #expect(try store.verify().faults == [])
      }
      for metadata: [UInt8]? in [[9], nil, [UInt8](repeating: 1, count: 3_000), []] {
        #expect(try store.write { try $0.setMetadata(metadata, of: key, in: images) })
        #expect(try images.entry(for: key)!.metadata == metadata)
        try expectSame()
      }
      for wanted in [[0, 1], [2], [1, 2, 0], []].map({ $0.map { owners[$0] } }) {
        #expect(try store.write { try $0.setOwners(wanted, of: key, in: images) })
        #expect(try images.entry(for: key)!.owners == wanted)
        try expectSame()
      }
      for article in ["1", "2"] { try articles.remove(article) }
      #expect(try images.contains(key), "it is nobody's")
      #expect(try !store.write { try $0.setOwners([], of: "absent", in: images) })
      clock.advance(by: .hours(1))
      #expect(try store.write { try $0.setMetadata([3], of: key, in: images) }, "it is stale")
      let stale = try images.entry(for: key)!
      #expect(stale.state == .stale && stale.metadata == [3] && stale.version == before.version)
      clock.advance(by: .hours(1))
      #expect(try !store.write { try $0.setMetadata([4], of: key, in: images) }, "it has expired")
      #expect(try !store.write { try $0.setMetadata([4], of: "absent", in: images) })
    }
  }

  @Test func `a load that is under way still takes the entry's place`() async throws {
    let store = try Store.temporary(options: Store.Options(clock: ManualClock()))
    let pages = store.cache(TextCodec(), in: "pages")
    try await pages.set("old", for: "a")
    let loaded = try await pages.result(
      for: "a", options: LoadOptions(policy: .revalidate, waitsForCommit: true)
    ) { _ in
      try store.write { _ = try $0.setMetadata([1], of: "a", in: pages.namespace) }
      return .value("new")
    }
    #expect(loaded?.value == "new" && loaded?.error == nil)
    #expect(try pages.value(for: "a") == "new")
    try store.close()
  }
}
