import Foundation
import LarderPeer
import LarderSystem
import TestSupport
import Testing

@testable import LMDB
@testable import Larder

/// Tests of buffer files that are damaged, foreign, from before a restart, or shared with killed, stopped and other processes.
@Suite(.serialized) struct WriteBufferFileTests {
  private let directory = TemporaryDirectory()
  private var path: String { directory.path + "/s" }

  /// Leaves the key `popped` with the value `data` in the data file, and `record` in the buffer of a killed process.
  private func leaveRecord(before kill: () throws -> Void = {}) throws {
    let writer = try PeerProcess("pop-buffered", path, saying: "buffered")
    try kill()
    writer.kill()
  }

  private func hasty(readOnly: Bool = false) -> Store.Options {
    with(BufferedStore.options(readOnly: readOnly)) { $0.lockTimeout = .milliseconds(100) }
  }

  enum Harm: CaseIterable {
    case intact, lockIsTaken, isClosed, otherDevice
    case cut, ones, onesInLog, otherBoot, otherStore, older, copied
  }

  @Test(arguments: Harm.allCases)
  func `whatever happens to the file, no value is wrong, and the store goes on`(harm: Harm) throws {
    var path = path
    let copy = directory.path + "/copy"
    try leaveRecord { if harm == .copied { #expect(Process.succeeds(["cp", "-R", path, copy])) } }
    var bytes = try #require(FileManager.default.contents(atPath: path + "/buffer"))
    let log = BufferLayout(bytes: 256 << 10).log(of: 0)
    let isHarmless = [.intact, .lockIsTaken, .isClosed, .otherDevice].contains(harm)
    var expected = isHarmless ? "record" : "data"
    switch harm {
    case .intact: break
    // Simulates that the killed process held the lock. The killed process had the number 1, which the next process also gets.
    case .lockIsTaken: bytes[128 + 8 * BufferLayout.Place.lock] = 1
    // Simulates that a process has lost a record, and so has stopped the appends of all processes.
    case .isClosed: bytes[128 + 8 * BufferLayout.Place.isClosed] = 1
    case .cut: bytes = bytes.prefix(bytes.count / 2)
    case .ones: for place in 128..<bytes.count { bytes[place] = .max }
    case .onesInLog: for place in 128 + 8 * log..<bytes.count { bytes[place] = .max }
    case .otherBoot: bytes[128 + 8 * BufferLayout.Place.origin] ^= 1
    // A disk may get another number when it is mounted again.
    case .otherDevice: bytes[128 + 8 * (BufferLayout.Place.origin + 2)] ^= 1
    case .otherStore: bytes[16] ^= 1
    case .older:
      expected = "newer"
      let store = try Store(at: path, options: hasty())
      try store.namespace("notes").set("newer", for: "popped")
      try store.close()
    case .copied: path = copy
    }
    if harm != .copied { try makePrivateFile(path + "/buffer", bytes) }
    let unusable: LarderError.Code? = [.cut, .otherStore].contains(harm) ? .cannotOpen : nil
    let code = failure {
      let reader = try Store(at: path, options: hasty(readOnly: true))
      #expect(try reader.namespace("notes").text("popped") == expected)
      try reader.close()
    }
    #expect(code == unusable)
    let notes = try Store(at: path, options: hasty()).namespace("notes")
    #expect(try notes.text("popped") == expected)
    #expect(try notes.store.verify().faults == [])
    #expect(try notes.text("popped") == expected)
    for text in ["a", "b", "c"] { try notes.set(text, for: "popped") }
    // After damaged records the next versions are much higher, so that no version is used twice.
    let version = try #require(try notes.entry(for: "popped")?.version)
    #expect((version > 1 << 20) == (harm == .onesInLog))
    try notes.store.verifyAndClose()
  }

  @Test func `a flip of any bit of a record shows no wrong value`() throws {
    try BufferedStore.with { store, notes in
      try notes.set("record", for: "first")
      let buffer = try #require(store.engine.reader.buffer)
      let (table, end) = (buffer.table, buffer.state.end)
      #expect(end > 0)
      let possible = [nil, Array("first".utf8), Array("record".utf8)]
      for bit in 0..<end * 64 {
        let place = buffer.layout.log(of: buffer.state.generation) + bit / 64
        let word = table.view.wide(place)
        table.view.store(word ^ 1 << UInt64(bit % 64), wide: place)
        let found = try notes.bytes("first")
        table.view.store(word, wide: place)
        #expect(possible.contains(found), "bit \(bit)")
      }
      #expect(try notes.text("first") == "record")
    }
  }

  @Test func `beside a damaged page the records stay visible, and salvage saves them`() throws {
    let first = try Store(at: path)
    try first.namespace("notes").fill((0..<1000).map { "key-\($0)" })
    let id = try first.namespace("notes").id
    try first.close()
    try leaveRecord()
    let url = URL(fileURLWithPath: path + "/data.mdb")
    let file = try FileHandle(forUpdating: url)
    let key = StoredKey.entry(Array("popped".utf8).span, in: id)
    for found in try Data(contentsOf: url).ranges(of: Data(key)) {
      // Erases the flags of the page, so the page is damaged.
      try file.seek(toOffset: UInt64(found.lowerBound / 4096 * 4096 + 10))
      try file.write(contentsOf: [0])
    }
    try file.close()
    let notes = try Store(at: path, options: hasty()).namespace("notes")
    #expect(failure { _ = try notes.count() } == .damaged)
    #expect(failure { try notes.set("later", for: "key-0") } == .damaged)
    #expect(try notes.store.verify().faults.contains { "\($0)".contains("write buffer") })
    #expect(try notes.text("popped") == "record")
    // The limits are not in the buffer, so `limits` needs no commit.
    #expect(try notes.store.limits().effective.disk != nil)
    #expect(failure { try notes.store.close() } != nil)
    _ = try Store.salvage(from: path, to: directory.path + "/new")
    let new = try Store(at: directory.path + "/new")
    #expect(try new.namespace("notes").text("popped") == "record")
    try new.verifyAndClose()
  }

  @Test(arguments: ["nothing", "sync", "close", "timer"])
  func `a power failure loses no record that a checkpoint has`(how: String) throws {
    let timer = ManualTimer()
    var options = BufferedStore.options()
    options.hooks.timer = { timer.start($0, $1) }
    options.hooks.boot = BootIdentity(9, 1)
    let store = try Store(at: path, options: options)
    for _ in 0..<2 { try store.namespace("notes").set("data", for: "k") }
    try store.sync()
    try store.namespace("notes").set("record", for: "k")
    #expect(store.engine.reader.buffer?.hasRecords == true)
    if how == "sync" { try store.sync() }
    if how == "close" { try store.close() }
    if how == "timer" { timer.runOut() }
    try directory.copy(from: "s", to: "cut")
    if how != "close" { try store.close() }
    options.hooks.boot = BootIdentity(9, 2)
    let recovered = try Store(at: directory.path + "/cut", options: options).namespace("notes")
    #expect(try recovered.text("k") == (how == "nothing" ? "data" : "record"))
    try recovered.store.verifyAndClose()
  }

  @Test func `a durable store never appends, even if a killed change has left a buffer`() throws {
    try Store(at: path, options: hasty()).close()
    let left = try #require(FileManager.default.contents(atPath: path + "/buffer"))
    try Store.change(durability: .durable, ofStoreAt: path)
    let engine = try Store(at: path, options: hasty()).engine
    try makePrivateFile(path + "/buffer", left)
    let buffer = try WriteBuffer(of: engine.environment, store: engine.identity, hasty())
    #expect(buffer?.appends == false)
  }

  @Test(.enabled(if: geteuid() != 0, "the superuser may write everything"))
  func `records in a buffer that the process may not write prevent an opening`() throws {
    try leaveRecord()
    try FileManager.default.setAttributes(
      [.posixPermissions: 0o400], ofItemAtPath: path + "/buffer")
    #expect(failure { _ = try Store(at: path, options: hasty()) } == .cannotOpen)
  }

  @Test func `a buffer that has used half of its generations is replaced`() throws {
    try Store(at: path, options: hasty()).close()
    var bytes = try #require(FileManager.default.contents(atPath: path + "/buffer"))
    bytes[128 + 8 * BufferLayout.Place.state + 7] |= 0x80
    try makePrivateFile(path + "/buffer", bytes)
    let store = try Store(at: path, options: hasty())
    #expect(store.engine.reader.buffer?.state.isOld == false)
    try store.verifyAndClose()
  }

  @Test func `the records of a killed process are committed in time`() throws {
    try leaveRecord()
    let timer = ManualTimer()
    let store = try Store(at: path, options: with(hasty()) { $0.hooks.timer = timer.start })
    timer.runOut()
    #expect(store.engine.reader.buffer?.hasRecords == false)
    try store.verifyAndClose()
  }

  @Test func `a write waits a limited time for a living process, and not for a dead one`() throws {
    let store = try Store(at: path, options: hasty())
    let notes = store.namespace("notes")
    for text in ["data", "data", "record"] { try notes.set(text, for: "k") }
    let holder = try PeerProcess("hold-write", path, saying: "writing")
    kill(pid_t(holder.identifier), SIGSTOP)
    #expect(failure { try notes.set("second", for: "k") } == .busy)
    #expect(try notes.text("k") == "record" && notes.count() == 1)
    holder.kill()
    try notes.set("third", for: "k")
    // This process has the number 1. The killed process had the number 2, and the peer below gets this number again.
    let table = try #require(store.engine.reader.buffer).table
    table.view.store(1 << 16 | 2, wide: BufferLayout.Place.lock)
    let commit = store.engine.environment.lastTransaction
    try notes.set("fourth", for: "k")
    #expect(store.engine.environment.lastTransaction == commit)
    // The count of owners has risen. So a waiter that saw the killed owner does not take the lock of the next process 2.
    #expect(table.view.wide(BufferLayout.Place.lock) >= 2 << 16)
    let peer = try PeerProcess("commands", path, saying: "open")
    table.view.store(1 << 16 | 2, wide: BufferLayout.Place.lock)
    let error = thrown { try notes.set("fifth", for: "k") }
    #expect(error?.code == .busy && error?.message.contains("holds buffer") == true)
    #expect(try notes.text("k") == "fourth")
    peer.kill()
    try store.verifyAndClose()
  }

  @Test func `a process that only reads sees the records, and counts after their commit`() throws {
    try leaveRecord()
    let notes = try Store(at: path, options: hasty(readOnly: true)).namespace("notes")
    #expect(try notes.text("popped") == "record")
    #expect(failure { _ = try notes.count() } == .busy)
    #expect(try PeerProcess("larder", path).line() == "opened")
    #expect(try notes.count() == 1 && notes.text("popped") == "record")
    try notes.store.close()
  }

  @Test(arguments: [0, 1 << 20])
  func `a process that wants another size or no buffer shares the present one`(bytes: Int) throws {
    try BufferedStore.with { store, _ in
      let commit = store.engine.environment.lastTransaction
      let peer = try PeerProcess("buffered", store.path, ["0", "\(bytes)", "7"], saying: "open")
      for _ in 0..<50 { _ = peer.line() }
      peer.kill()
      let last = peer.lines().compactMap { Int($0) }.last ?? 50
      let commits = Int(store.engine.environment.lastTransaction - commit)
      #expect(bytes == 0 ? commits >= last : commits < last)
      #expect(try BufferedStore.number(at: last, in: store) >= last)
    }
  }

  @Test(arguments: ["clear notes", "rename notes other"])
  func `no record goes to a namespace that another process has changed`(command: String) throws {
    try BufferedStore.with { store, notes in
      let peer = try PeerProcess("commands", store.path, saying: "open")
      for _ in 0..<2 { try notes.set("record", for: "k") }
      #expect(store.engine.reader.buffer?.hasRecords == true)
      #expect(try peer.ask(command) == "done")
      try notes.set("later", for: "l")
      #expect(try notes.keys() == [Key("l")])
      #expect(try peer.end() == 0)
    }
  }
}
