import Foundation
import TestSupport
import Testing

@testable import Larder

@Suite(.settling) struct LeaseTests: StoreSuite {
  /// The simulated clock of this process. The clock of the peers always shows 1,000,000.
  private let machine = Shared<Int64>(1_000_000)
  private let looks = Tally()
  private let origin = Origin()
  let fixture: StoreFixture

  init() {
    var options = Store.Options()
    options.hooks.machineClock = { [machine, looks] in
      looks.add()
      return machine.value
    }
    fixture = StoreFixture(onDisk: options, usesSystemClock: true)
  }

  private func load(_ key: String, _ policy: RequestPolicy = .standard) -> TextLoad {
    origin.startAsking(boards, LoadOptions(policy: policy, waitsForCommit: true), for: key)
  }

  private func peer(_ policy: RequestPolicy = .standard) throws -> PeerProcess {
    try PeerProcess("load", store.path, ["thun", policy.rawValue], saying: "loading")
  }

  private func waiting(_ policy: RequestPolicy = .standard) async throws -> TextLoad {
    let table = try #require(store.engine.leases).table
    let task = load("thun", policy)
    // Waits until the caller has mapped the file of leases, so that the caller reads the lease of the peer.
    try await waitUntil { table.standing(0, at: machine.value) != .unavailable }
    return task
  }

  @Test func `processes that ask for the same keys at once load each of them once`() async throws {
    let peers = try (0..<4).map { _ in try PeerProcess("load-many", store.path, ["50"]) }
    #expect(try peers.loads(of: 50) == 50)
  }

  @Test func `a caller gets the value that another process was loading`() async throws {
    let peer = try peer()
    let task = try await waiting()
    try peer.tell("theirs")
    let result = try await task.value
    #expect(result.value == "theirs" && result.source == .disk && result.isCommitted)
    #expect(origin.loads == 0)
    #expect(peer.line() == "loaded theirs")
  }

  @Test func `the lease of a killed process ends by time`() async throws {
    try peer().kill()
    let task = try await waiting()
    machine.withLock { $0 += LeaseTable.length - 1 }
    #expect(origin.loads == 0)
    machine.withLock { $0 += 1 }
    #expect(try await task.value.value == "load 1")
  }

  @Test func `a load that failed in another process lets those that waited load`() async throws {
    let peer = try peer()
    let task = try await waiting()
    try peer.tell("fail")
    #expect(peer.line() == "error")
    #expect(try await task.value.value == "load 1")
  }

  @Test func `a caller that wants a confirmation takes another process's answer`() async throws {
    try await boards.set("old", for: "thun")
    let peer = try peer(.revalidate)
    let task = try await waiting(.revalidate)
    // A caller with the policy `reload` loads the value itself, and does not wait for the peer.
    #expect(try await load("thun", .reload).value.value == "load 1")
    try peer.tell("new")
    #expect(peer.line()?.hasPrefix("loaded") == true)
    _ = try await task.value
    #expect(origin.loads == 1)
  }

  @Test func `a wait for another process decodes the stored value only once`() async throws {
    try await boards.set("old", for: "thun")
    let peer = try peer(.revalidate)
    let codec = CountingCodec()
    let cache = store.cache(codec, in: "boards", memory: .off)
    let task = origin.startAsking(cache, LoadOptions(policy: .revalidate))
    try await waitUntil { looks.value > 30 }
    #expect(codec.decoded == 2, "once for the request, and once for its load")
    try peer.tell("new")
    #expect(try await task.value.value == "new")
  }

  @Test func `a load of another process is waited for a minute at most`() async throws {
    let peer = try peer()
    let table = try #require(store.engine.leases).table
    let hash = try boards.leaseHash(Array("thun".utf8))
    let task = try await waiting()
    // The time of the peer never changes, so the peer does not renew its lease. The test renews the lease instead.
    var word = LeaseTable.word(hash, until: machine.value + LeaseTable.length)
    // The caller may begin to count the minute after the first steps.
    while origin.loads == 0 {
      let next = LeaseTable.word(hash, until: machine.value + 1_000 + LeaseTable.length)
      #expect(table.replace(word, by: next, at: LeaseTable.place(of: hash)))
      word = next
      machine.withLock { $0 += 1_000 }
      await Task.yield()
    }
    #expect(machine.value >= 1_000_000 + LoadLeases.longest)
    #expect(try await task.value.value == "load 1")
    #expect(peer.isRunning)
  }

  @Test func `a load inside another load does not wait for other processes`() async throws {
    let peer = try peer()
    let value = try await boards.value(for: "bern") {
      try await "bern and " + boards.value(for: "thun") { try await origin.text() }
    }
    #expect(value == "bern and load 1" && peer.isRunning)
  }

  @Test func `a lease is renewed during its load, for a minute, and ends with it`() async throws {
    let leases = try #require(store.engine.leases)
    let hash = try boards.leaseHash(Array("thun".utf8))
    func standing() -> LeaseTable.Standing { leases.table.standing(hash, at: machine.value) }
    origin.close()
    let task = load("thun")
    try await origin.waitForLoads(1)
    for _ in 1..<30 {
      machine.withLock { $0 += 2_000 }
      #expect(standing() == .held)
      leases.renew()
    }
    machine.withLock { $0 += 2_000 }
    leases.renew()
    machine.withLock { $0 += 1_000 }
    #expect(standing() == .lapsed)
    origin.open()
    _ = try await task.value
    _ = try await load("bern").value
    let ended = try boards.leaseHash(Array("bern".utf8))
    #expect(leases.table.standing(ended, at: machine.value) == .free)
  }

  @Test func `reading what is stored takes no lease`() async throws {
    try await boards.set("v", for: "thun")
    for _ in 1...3 { #expect(try await load("thun").value.value == "v") }
    let path = store.path + "/leases"
    #expect(!FileManager.default.fileExists(atPath: path))
    _ = try await load("bern").value
    #expect(FileManager.default.fileExists(atPath: path))
  }

  @Test(arguments: [0, .max, 0x00FF_FFFF_FFFF_FFFF, 1_003_001] as [UInt64])
  func `a damaged word delays no load`(word: UInt64) async throws {
    _ = try await load("bern").value
    let table = try #require(store.engine.leases).table
    let hash = try boards.leaseHash(Array("thun".utf8))
    #expect(table.replace(0, by: word, at: LeaseTable.place(of: hash)) || word == 0)
    #expect(try await load("thun").value.value == "load 2")
  }

  @Test func `without the file a process loads for itself, and tries again later`() async throws {
    let path = store.path + "/leases"
    let leases = try #require(store.engine.leases)
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    #expect(try await load("thun").value.value == "load 1")
    try FileManager.default.removeItem(atPath: path)
    machine.withLock { $0 += LoadLeases.pause - 1 }
    #expect(try await load("bern").value.value == "load 2")
    #expect(leases.table.standing(0, at: machine.value) == .unavailable)
    machine.withLock { $0 += 1 }
    #expect(try await load("basel").value.value == "load 3")
    #expect(leases.table.standing(0, at: machine.value) == .free)
  }
}

extension StoreEngine {
  /// `#require` copies the values in its expression, but ``Loads`` cannot be copied, so the tests need this property.
  fileprivate var leases: LoadLeases? { loads.leases }
}
