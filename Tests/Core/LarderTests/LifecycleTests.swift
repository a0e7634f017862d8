import Foundation
import LarderSystem
import Synchronization
import TestSupport
import Testing

@testable import LMDB
@testable import Larder

@Suite struct LifecycleTests {
  private let directory = TemporaryDirectory()
  private var path: String { directory.path }

  @Test func `a used quota is a full disk with its own remedy`() {
    let error = LarderError(.quotaReached, path: path)
    #expect(error.code == .full && error.hint?.contains("quota") == true)
  }

  @Test func `only a store that nobody has open counts as left by a killed process`() throws {
    let store = try Store(at: path + "/s")
    Environment.removeAbandoned(at: store.path, age: 0)
    try store.close()
    Environment.removeAbandoned(at: store.path)
    #expect(FileManager.default.fileExists(atPath: store.path + "/data.mdb"))
    Environment.removeAbandoned(at: store.path, age: 0)
    #expect(!FileManager.default.fileExists(atPath: store.path))
  }

  @Test func `a second opening with another clock is an error`() throws {
    let store = try Store(at: path + "/s", options: .init(clock: ManualClock()))
    let options = Store.Options(clock: ManualClock())
    #expect(failure { _ = try Store(at: path + "/s", options: options) } == .invalidArgument)
    let error = #expect(throws: LarderError.self) { _ = try Store(at: path + "/s") }
    #expect(error?.code == .invalidArgument && error?.hint?.contains("the same object") == true)
    try store.namespace("notes").set("v", for: "k")
    try store.close()
    let other = try Store(at: path + "/s")
    #expect(try other.namespace("notes").text("k") == "v")
    try other.close()
  }

  @Test func `once closed, any handle says so at each call, and closing twice is fine`() throws {
    let (store, other) = (try Store(at: path + "/s"), try Store(at: path + "/s"))
    let notes = other.namespace("notes")
    try notes.set("v", for: "k")
    try store.close()
    try store.close()
    try other.close()
    let calls: [() throws -> Void] = [
      { _ = try notes.text("k") }, { try notes.set("v", for: "k") }, { _ = try notes.count() },
      { _ = try notes.page() }, { try notes.clear() }, { try other.purge() },
      { _ = try other.statistics() }, { _ = try other.verify() }, { try other.sync() },
      { try other.read { _ in } }, { try other.write { _ in } }, { _ = try other.namespaces() },
    ]
    for call in calls { #expect(failure(call) == .closed) }
    let again = try Store(at: path + "/s")
    #expect(try again.namespace("notes").text("k") == "v")
    #expect(failure { _ = try notes.text("k") } == .closed)
    try again.close()
  }

  @Test func `closing writes what waits, through a handle for reading too`() throws {
    let clock = ManualClock()
    let options = Store.Options(clock: clock)
    do {
      let store = try Store(at: path + "/s", options: options)
      let reader = try Store(at: path + "/s", options: Store.Options(readOnly: true, clock: clock))
      let notes = store.namespace("notes")
      try notes.set("v", for: "k", expires: .after(.seconds(1)))
      try notes.set("v", for: "l")
      clock.advance(by: .seconds(1))
      _ = try notes.text("k")
      _ = try notes.text("l")
      try reader.close()
    }
    let store = try Store(at: path + "/s", options: options)
    let facts = try #require(try store.statistics().namespaces.first)
    #expect(facts.info.entries == 1)
    #expect(facts.reads.hits == 1 && facts.reads.expired == 1)
    try store.close()
  }

  @Test(arguments: [false, true])
  func `a temporary store and a store in memory leave nothing behind`(isInMemory: Bool) throws {
    for isClosed in [false, true] {
      var path = ""
      do {
        let store = try isInMemory ? Store.inMemory() : Store.temporary()
        path = store.path
        try store.namespace("notes").set("v", for: "k")
        #expect(try store.namespace("notes").text("k") == "v" && store.verify().faults == [])
        #expect(FileManager.default.fileExists(atPath: path))
        if isClosed {
          try store.close()
          #expect(!FileManager.default.fileExists(atPath: path))
        }
      }
      #expect(!FileManager.default.fileExists(atPath: path))
      if isInMemory {
        let hasMemory = FileManager.default.isWritableFile(atPath: "/dev/shm")
        #expect(path.hasPrefix("/dev/shm/") == hasMemory)
      }
    }
  }

  @Test func `releasing the last handle while a thread opens the store harms nobody`() throws {
    try inThreads(4) { thread in
      for round in 0..<50 {
        let notes = try Store(at: path + "/s").namespace("notes")
        if round % 10 == 0 { try notes.set("v", for: thread) }
        _ = try notes.text(thread)
      }
    }
    let store = try Store(at: path + "/s")
    #expect(try store.namespace("notes").count() == 4)
    try store.close()
  }

  @Test func `stores in globals count their reads and remove their directories at the end`() throws
  {
    let path = directory.path + "/store"
    var store = try Store(at: path)
    try store.namespace("notes").set("v", for: "a")
    try store.close()
    let peer = try PeerProcess("larder-globals", path)
    let temporary = try #require(peer.line())
    #expect(peer.line() == nil)
    peer.kill()
    #expect(temporary.contains("larder-") && !FileManager.default.fileExists(atPath: temporary))
    store = try Store(at: path)
    let reads = try store.namespace("notes").reads
    #expect(reads.hits == 1 && reads.absent == 2)
    try store.close()
  }

  @Test func `a temporary store that was busy at its first close leaves nothing after the second`()
    throws
  {
    let store = try Store.temporary(options: Store.Options(lockTimeout: .milliseconds(50)))
    try store.read { _ in #expect(failure { try store.close() } == .busy) }
    try store.close()
    #expect(!FileManager.default.fileExists(atPath: store.path))
  }

  @Test func `a forked child leaves the files of a temporary store to its parent`() throws {
    #expect(try PeerProcess("fork-with-temporary", directory.path).lines() == ["done", "true"])
  }

  #if DEBUG
    @Test func `a task that writes synchronously is told so once`() async throws {
      let said = Mutex<[String]>([])
      TaskWarning.report.withLock { $0 = { line in said.withLock { $0.append(line) } } }
      let store = try Store.temporary()
      func write() throws { try store.namespace("notes").set("v", for: "k") }
      TaskWarning.isSaid.store(false, ordering: .relaxed)
      try write()
      try write()
      #expect(said.withLock { $0.count } >= 1)
      #expect(said.withLock { $0.first }?.contains("try await") == true)
      // A thread that the program itself has created may block, so a write on this thread gives no warning.
      TaskWarning.isSaid.store(false, ordering: .relaxed)
      said.withLock { $0 = [] }
      let path = store.path
      try inThreads(1) { _ in try store.namespace("notes").set("w", for: "k") }
      #expect(said.withLock { !$0.contains { $0.contains(path) } })
      try await store.namespace("notes").set("x", for: "k")
      #expect(said.withLock { !$0.contains { $0.contains(path) } })
    }
  #endif
}

@Suite(.timeLimit(.minutes(20))) struct HealthTests {
  private let files = FileManager.default
  private let directory = TemporaryDirectory()
  private var place: String { directory.path + "/s" }
  private var away: String { directory.path + "/away" }

  @Test func `deleted and replaced files are reported, also to subscribers`() async throws {
    let store = try Store(at: place)
    let notes = store.namespace("notes")
    try await notes.set("v", for: "k")
    #expect(try store.health() == .healthy)
    var changes = store.changes().makeAsyncIterator()

    try files.moveItem(atPath: place, toPath: away)
    #expect(try store.health() == .missing)
    #expect(await changes.nextHealth() == .missing)
    #expect(try notes.text("k") == "v")

    _ = try Store(at: place)
    #expect(try store.health() == .replaced)
    #expect(await changes.nextHealth() == .replaced)
    #expect(try notes.text("k") == "v")
    #expect(failure { try notes.store.write { try $0.set("w", for: "k", in: notes) } } != nil)

    try files.removeItem(atPath: place)
    try files.moveItem(atPath: away, toPath: place)
    #expect(try store.health() == .healthy)
    #expect(await changes.nextHealth() == .healthy)
    try await notes.set("again", for: "k")
    try store.verifyAndClose()
    #expect(throws: LarderError.self) { try store.health() }
  }

  @Test func `a new subscriber gets no health from before its subscription`() async throws {
    let store = try Store(at: place)
    do {
      var changes = store.changes().makeAsyncIterator()
      try files.moveItem(atPath: place, toPath: away)
      #expect(await changes.nextHealth() == .missing)
    }
    try files.moveItem(atPath: away, toPath: place)
    let changes = store.changes()
    #expect(store.engine.changes.sight.health == .healthy)
    withExtendedLifetime(changes) {}
    try store.verifyAndClose()
  }

  @Test func `a failed sync is reported, and closing then ends the subscriptions`() async throws {
    let store = try Store(at: place)
    var changes = store.changes().makeAsyncIterator()
    store.engine.environment.handle.noteSyncFailure()
    #expect(try store.health() == .unwritable("\(LMDBError.syncFailed)"))
    #expect(failure { try store.close() } == .failed)
    #expect(await changes.next() == nil)
  }

  @Test(arguments: [
    "lock.open", "lock.write", "lock.queue", "lock.maps", "lock.slots", "recovery",
  ]) func `a deleted file beside the data is reported`(name: String) throws {
    let store = try Store(at: place)
    #expect(try store.health() == .healthy)
    try files.removeItem(atPath: place + "/" + name)
    #expect(try store.health() == .missing)
    guard name == "lock.slots" else { return }
    #expect(
      failure { try store.write { try $0.set("w", for: "k", in: store.namespace("n")) } } != nil)
  }

  @Test(.enabled(if: geteuid() != 0, "the superuser may write everything"))
  func `a directory that may not be written is reported`() async throws {
    let store = try Store(at: place)
    try files.setAttributes([.posixPermissions: 0o500], ofItemAtPath: place)
    guard case .unwritable(let reason) = try store.health() else {
      Issue.record("it counts as writable")
      return
    }
    #expect(!reason.isEmpty)
    try files.setAttributes([.posixPermissions: 0o700], ofItemAtPath: place)
    #expect(try store.health() == .healthy)
  }
}

extension Changes.Iterator {
  /// The next reported health. Skips all other changes, also `missed`, because a busy machine may cause that change.
  fileprivate mutating func nextHealth() async -> StoreHealth? {
    while let change = await next() { if case .health(let health) = change.kind { return health } }
    return nil
  }
}
