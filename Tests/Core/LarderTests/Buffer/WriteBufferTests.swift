import LarderPeer
import LarderSystem
import Synchronization
import TestSupport
import Testing

@testable import LMDB
@testable import Larder

@Suite struct WriteBufferTests: StoreSuite {
  let fixture = StoreFixture(onDisk: BufferedStore.options())

  init() throws {
    // The first commit makes the namespace. The second commit makes the rules known, too, so later sets use the buffer.
    for _ in 0..<2 { try notes.set("first", for: "first") }
  }

  private func isBuffered(_ store: Store) -> Bool { store.engine.reader.buffer!.hasRecords }

  @Test func `a set makes no commit, and a read finds it`() throws {
    let commit = store.engine.environment.lastTransaction
    for number in 0..<100 { try notes.set("\(number)", for: "key \(number % 10)") }
    #expect(store.engine.environment.lastTransaction == commit)
    for key in 0..<10 { #expect(try notes.text("key \(key)") == "\(90 + key)") }
    #expect(try notes.entry(for: "key 3")?.size == 2)
    #expect(try notes.contains("key 4"))
    #expect(isBuffered(store))
  }

  @Test func `if no thread commits within twice the interval, a set makes the commit`() throws {
    let buffer = try #require(store.engine.reader.buffer)
    try notes.set("v", for: "k")
    #expect(buffer.hasRecords)
    let (_, since) = store.engine.settlingSince.subtract(7_200_002, ordering: .relaxed)
    try notes.set("w", for: "k")
    #expect(!buffer.hasRecords && store.engine.settlingSince.load(ordering: .relaxed) != since)
  }

  @Test func `counts, scans, snapshots and batches have the entries`() throws {
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

  @Test func `a scan beside a long batch waits for no record`() throws {
    try notes.set("one", for: "a")
    try store.write { batch in
      try batch.set("two", for: "b", in: notes)
      try inThreads(1) { _ in
        let counts = [try notes.count(), try notes.keys().count]
        #expect(counts == [2, 2])
      }
    }
    #expect(try notes.count() == 3)
  }

  @Test func `after a rollback no record is added before a commit`() throws {
    try notes.set("one", for: "a")
    #expect(throws: Stop.self) { try store.write { _ in throw Stop() } }
    let commit = store.engine.environment.lastTransaction
    try notes.set("two", for: "b")
    #expect(store.engine.environment.lastTransaction == commit + 1)
    try notes.set("three", for: "c")
    #expect(store.engine.environment.lastTransaction == commit + 1)
    #expect(isBuffered(store))
  }

  @Test func `removals, touches and clears come behind the entries`() throws {
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

  @Test func `removals and conditional writes make no commit`() throws {
    let commit = store.engine.environment.lastTransaction
    try notes.set("one", for: "a")
    #expect(try notes.remove("a"))
    #expect(try !notes.remove("a"))
    #expect(try notes.text("a") == nil)
    #expect(try notes.entry(for: "a") == nil)
    #expect(try notes.setIfAbsent(Array("two".utf8), for: "a"))
    #expect(try !notes.setIfAbsent(Array("three".utf8), for: "a"))
    let version = try #require(try notes.entry(for: "a")).version
    #expect(try !notes.replace(nil, with: [1], for: "a"))
    #expect(try !notes.replace(version + 1, with: [1], for: "a"))
    #expect(try notes.replace(version, with: Array("four".utf8), for: "a"))
    #expect(try notes.remove("first"))
    #expect(try notes.text("first") == nil)
    #expect(store.engine.environment.lastTransaction == commit)
    #expect(try notes.text("a") == "four")
    #expect(try notes.keys() == [Key("a")])
    #expect(try notes.count() == 1)
  }

  @Test func `a removal leaves a large value to a transaction, which does not read it`() throws {
    try notes.set([UInt8](repeating: 1, count: 300_000), for: "k")
    #expect(try notes.remove("k") && !isBuffered(store))
  }

  @Test func `an increment makes no commit, and keeps the lifetime`() throws {
    let numbers = store.cache(of: Int.self, in: "notes")
    try notes.set("word", for: "word")
    let commit = store.engine.environment.lastTransaction
    for sum in 1...20 { #expect(try notes.increment("n", expires: .after(.hours(1))) == sum) }
    let expires = try notes.entry(for: "n")?.expires
    #expect(try notes.increment("n", by: -30) == -10)
    #expect(try notes.entry(for: "n")?.expires == expires && expires != nil)
    #expect(try [numbers.increment("m", by: 5), numbers.increment("m")] == [5, 6])
    #expect(failure { try notes.increment("word") } == .undecodable)
    #expect(failure { try numbers.increment("m", by: .max) } == .invalidArgument)
    #expect(store.engine.environment.lastTransaction == commit)
    #expect(try numbers.value(for: "m") == 6)
    var attributes = EntryAttributes.with(tags: ["t"])
    try notes.set(Array("1".utf8), for: "tagged", attributes)
    #expect(try notes.increment("tagged") == 2)
    #expect(try notes.entry(for: "tagged")?.tags == ["t"])
    for key in ["plain", "with a tag"] {
      attributes.tags = key == "plain" ? [] : ["t"]
      (attributes.expires, attributes.stale) = (.after(.hours(1)), .days(Int.max))
      try notes.set(Array("1".utf8), for: key, attributes)
      let end = try notes.entry(for: key)?.staleUntil
      #expect(try notes.increment(key) == 2)
      #expect(try notes.entry(for: key)?.staleUntil == end && end != nil)
    }
  }

  @Test func `a scan inside an update finds the entries that were written before`() throws {
    let counts = Shared<[Int]>([])
    let count: @Sendable ([UInt8]?) throws -> [UInt8]? = { _ in
      let entries = try notes.count()
      counts.withLock { $0.append(entries) }
      return [1]
    }
    try notes.set("one", for: "a")
    #expect(isBuffered(store))
    try notes.update("b", EntryAttributes(), count)
    // Puts the next update into one group with a pop, which is a write of another kind.
    try notes.set("two", for: "c")
    #expect(isBuffered(store))
    let group: [any QueuedWrite] = [
      CallerWrite(try notes.popping("none") { $0 }),
      CallerWrite(try notes.updating("d", EntryAttributes(), count)),
    ]
    store.engine.commit(group)
    #expect(counts.value == [2, 4])
    #expect(try notes.count() == 5)
  }

  @Test func `no increment of several threads is lost`() throws {
    try inThreads(4) { _ in for _ in 0..<2000 { try notes.increment("n") } }
    #expect(try notes.text("n") == "8000")
  }

  @Test func `writes that have waited for a batch need no commit`() async throws {
    let (cache, holder) = (store.cache(TextCodec(), in: "notes"), await LockHolder(store))
    async let first: Void = notes.set("first", for: "a")
    try await waitUntil { store.engine.writes.queue.hasTaken }
    async let second: Void = notes.set("second", for: "b")
    async let last: Void = cache.set("third", for: "c")
    try await store.engine.writes.queue.waitForWaiting(2)
    holder.letGo()
    _ = try await (first, second, last)
    #expect(isBuffered(store))
    #expect(try notes.keys() == ["a", "b", "c", "first"].map { Key($0) })
  }

  @Test func `a removal keeps an earlier load from storing`() async throws {
    let cache = store.cache(TextCodec(), in: "notes")
    let value = try await cache.value(for: "a") {
      _ = try await cache.namespace.remove("a")
      return "loaded"
    }
    #expect(value == "loaded")
    let stored = try cache.value(for: "a")
    #expect(stored == nil)
  }

  @Test func `a write that changes nothing leaves the room of the buffer`() throws {
    let commit = store.engine.environment.lastTransaction
    #expect(try !notes.touch("absent"))
    try notes.set("v", for: "k")
    #expect(store.engine.environment.lastTransaction == commit && isBuffered(store))
  }

  @Test func `values in memory are never older than the last set`() throws {
    let (cache, numbers) = (store.cache(TextCodec(), in: "numbers"), store.namespace("numbers"))
    for number in 0..<200 {
      try cache.set("\(number)", for: "n")
      #expect(try cache.value(for: "n") == "\(number)")
      try numbers.set("\(-number)", for: "n")
      #expect(try cache.value(for: "n") == "\(-number)")
    }
    let buffer = try #require(store.engine.reader.buffer)
    let (table, state) = (buffer.table, buffer.state)
    try numbers.set("new", for: "n")
    #expect(state.end > 0 && buffer.state.epoch == state.epoch)
    // Simulates that the writer was killed just before it stored the state, so lookups find the record already.
    table.view.store(state.word, wide: BufferLayout.Place.state)
    #expect(try numbers.text("n") == "new" && cache.value(for: "n") == "new")
    // The next writer of the key completes that write, and needs no transaction.
    let commit = store.engine.environment.lastTransaction
    try numbers.set("newest", for: "n")
    #expect(store.engine.environment.lastTransaction == commit)
  }

  @Test func `entries expire to the millisecond`() throws {
    try notes.set("short", for: "a", expires: .after(.milliseconds(500)))
    #expect(isBuffered(store))
    clock.advance(by: .milliseconds(499))
    #expect(try notes.text("a") == "short")
    clock.advance(by: .milliseconds(1))
    #expect(try notes.text("a") == nil)
    #expect(try notes.purge().entries == 1)
  }

  @Test func `keys with equal hashes have many places`() throws {
    let buffer = try #require(store.engine.reader.buffer)
    let table = buffer.table
    let places = (0..<100).map { number in
      let key = Array("key \(number)".utf8)
      return buffer.search(key.span, in: .store, keyHash: 0, 1, table.view).place
    }
    #expect(Set(places).count > 50)
  }

  @Test func `a generation finds no place of an old generation with the same 16 bits`() throws {
    let buffer = try #require(store.engine.reader.buffer)
    let mark = buffer.state.generation & 0xFFFF
    try notes.set(String(repeating: "x", count: 200), for: "long")
    try notes.set("old", for: "k")
    try store.write { _ = try $0.remove("k", from: notes) }
    #expect(!buffer.hasRecords && !buffer.state.isFrozen)
    // Sets the generation to 65,535, to simulate that number of commits. So the next two commits must empty the tables.
    let table = buffer.table
    let word = buffer.state.word & (1 << 26 - 1) | 2 * 0xFFFF << 26
    table.view.store(word, wide: BufferLayout.Place.state)
    for _ in 0..<100 where buffer.state.generation & 0xFFFF != mark {
      try store.write { try $0.set("other", for: "other", in: notes) }
    }
    // This record overwrites the start of the log. The log still has the old record of `k`, which no read may find.
    try notes.set("new", for: "first")
    #expect(buffer.hasRecords && buffer.state.generation & 0xFFFF == mark)
    #expect(try notes.text("k") == nil && notes.text("first") == "new")
  }
}
