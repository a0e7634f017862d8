import Dispatch
import Foundation
import LarderPeer
import LarderSystem
import Synchronization
import TestSupport
import Testing

@testable import LMDB
@testable import Larder

@Suite struct BufferFaultTests {
  private let directory = TemporaryDirectory()
  private var path: String { directory.path + "/s" }

  private func size(of path: String) -> Int? {
    FileManager.default.contents(atPath: path + "/buffer")?.count
  }

  @Test func `a set comes behind a value that was loaded before`() async throws {
    let store = try Store(at: path, options: BufferedStore.options())
    let cache = store.cache(TextCodec(), in: "notes")
    for round in 0..<50 {
      _ = try await cache.value(for: "k", options: LoadOptions(policy: .reload)) { "loaded" }
      try await cache.set("set \(round)", for: "k")
      try store.write { _ in }
      #expect(try cache.value(for: "k") == "set \(round)")
    }
    try store.verifyAndClose()
  }

  @Test func `a store that is closed while threads write ends no process`() throws {
    for round in 0..<20 {
      let notes = try Store(at: path, options: BufferedStore.options()).namespace("notes")
      try notes.set("first", for: "first")
      let (begun, ended) = (DispatchSemaphore(value: 0), DispatchGroup())
      for thread in 0..<4 {
        ended.enter()
        // Dispatch might start no further thread, because these threads write without a wait.
        Thread.detachNewThread {
          begun.signal()
          var number = 0
          while failure({ try notes.set("\(number)", for: thread) }) == nil { number += 1 }
          ended.leave()
        }
      }
      for _ in 0..<4 { begun.wait() }
      if round % 2 == 0 { try notes.set("last", for: "last") }
      try notes.store.close()
      ended.wait()
    }
    let store = try Store(at: path, options: BufferedStore.options())
    #expect(try store.namespace("notes").text("last") == "last")
    try store.verifyAndClose()
  }

  @Test func `an append that outlasts the closing keeps the lock of the buffer`() throws {
    let options = with(BufferedStore.options()) { $0.lockTimeout = .milliseconds(10) }
    let store = try Store(at: path, options: options)
    let (table, lock) = (store.engine.reader.buffer!.table, store.engine.reader.buffer!.lock!)
    let later = try lock.withLock(table.view, waitingAtMost: .zero) { _ in
      _ = failure { try store.close() }
      let later = try Store(at: path, options: options)
      let (table, lock) = (later.engine.reader.buffer!.table, later.engine.reader.buffer!.lock!)
      let taken: Void? = lock.withLock(table.view, waitingAtMost: .zero) { _ in }
      #expect(taken == nil)
      return later
    }
    try later?.verifyAndClose()
  }

  @Test func `an append does not wait as long as a transaction that waits for the lock`() throws {
    let store = try Store(at: path, options: BufferedStore.options())
    let buffer = try #require(store.engine.reader.buffer)
    let (table, lock, ended) = (buffer.table, buffer.lock!, DispatchSemaphore(value: 0))
    _ = lock.withLock(table.view, waitingAtMost: .zero) { _ in
      Thread.detachNewThread {
        _ = lock.withLock(table.view, waitingAtMost: .seconds(10)) { _ in }
        ended.signal()
      }
      for _ in 0..<20 { buffer.awaitAppend() }
      #expect(ended.wait(timeout: .now()) == .timedOut)
    }
    ended.wait()
    try store.verifyAndClose()
  }

  @Test func `whoever opens the store alone chooses the size`() throws {
    for bytes in [256 << 10, 1 << 20, 0, 512 << 10] {
      let store = try Store(at: path, options: BufferedStore.options(bytes))
      for number in 0..<3 { try store.namespace("notes").set("\(number)", for: number) }
      try store.close()
      let made = size(of: path)
      #expect((made ?? 0) / max(bytes, 1) == (bytes == 0 ? 0 : 1), "\(bytes)")
      var options = with(BufferedStore.options()) { $0.keepsWriteBuffer = true }
      try Store(at: path, options: options).close()
      #expect(size(of: path) == made)
      // After another boot of the machine, the store makes a new buffer file. The new file must have the same size.
      options.hooks.boot = BootIdentity(UInt64(bytes), 1)
      try Store(at: path, options: options).close()
      #expect(size(of: path) == made)
    }
  }

  @Test func `a handle that only reads changes nothing`() throws {
    try Store.leave("text", at: path, BufferedStore.options(0))
    let reader = try Store(at: path, options: BufferedStore.options(readOnly: true))
    #expect(try reader.namespace("notes").text("k") == "text")
    #expect(try reader.statistics().format == 4)
    try reader.close()
    #expect(size(of: path) == nil)
  }

  @Test func `salvage saves the entries that a killed process has left in the buffer`() throws {
    var points: [Int?] = [nil, nil]
    #if DEBUG || KILL_POINTS
      // At these kill points, a commit of the older log runs or has just ended.
      points += [17, 18, 19, 20]
    #endif
    for (round, point) in points.enumerated() {
      let (path, target) = (directory.path + "/old\(round)", directory.path + "/new\(round)")
      try BufferedStore.leaveByKill(path, at: point)
      let salvage = try Store.salvage(from: path, to: target)
      #expect(salvage.isComplete)
      let (old, new) = (try Store(at: path), try Store(at: target))
      let (before, after) = (old.namespace("numbers-0"), new.namespace("numbers-0"))
      #expect(try after.keys() == before.keys())
      for key in try before.keys() { #expect(try after.bytes(key) == before.bytes(key)) }
      #expect(try salvage.entries == before.count() && new.verify().faults == [])
      try old.close()
      try new.close()
    }
  }

  @Test func `salvage tells that a record of the buffer is damaged`() throws {
    // The writer is killed after its first record, because later a commit could empty the buffer just before the kill.
    try BufferedStore.leaveByKill(path, at: 6)
    let file = try FileHandle(forUpdating: URL(fileURLWithPath: path + "/buffer"))
    // Overwrites the first word of the first record in each log of the buffer file.
    for generation: UInt64 in 0...1 {
      try file.seek(toOffset: UInt64(128 + 8 * BufferLayout(bytes: 262_144).log(of: generation)))
      try file.write(contentsOf: [UInt8](repeating: 1, count: 8))
    }
    try file.close()
    let salvage = try Store.salvage(from: path, to: path + "-new")
    #expect(Set(salvage.damage) == ["the write buffer has a damaged record"])
  }

  @Test func `the entries of other data are not shown`() throws {
    try Store.leave("old", at: path, BufferedStore.options())
    try FileManager.default.copyItem(atPath: path + "/data.mdb", toPath: directory.path + "/copy")
    try BufferedStore.leaveByKill(path)
    try FileManager.default.removeItem(atPath: path + "/data.mdb")
    try FileManager.default.moveItem(atPath: directory.path + "/copy", toPath: path + "/data.mdb")
    let reader = try Store(at: path, options: BufferedStore.options(readOnly: true))
    #expect(try reader.namespaces().map(\.name) == ["notes"])
    #expect(try reader.namespace("numbers-0").value(for: 1) as [UInt8]? == nil)
    #expect(try reader.namespace("notes").text("k") == "old")
    // The next writer begins a new generation of the buffer. The reader and later processes must read this generation.
    let last = try BufferedStore.leaveByKill(path)
    #expect(try BufferedStore.number(at: last, in: reader) >= last)
    try reader.close()
    let later = try Store(at: path, options: BufferedStore.options())
    #expect(try BufferedStore.number(at: last, in: later) >= last)
    try later.verifyAndClose()
  }

  @Test func `a record that was changed in the file is lost, and removes nothing`() throws {
    try BufferedStore.with { store, notes in
      try notes.set("record", for: "first")
      let buffer = try #require(store.engine.reader.buffer)
      #expect(buffer.state.end > 0)
      // Word 1 of the record now says that the record is a removal. But the seal shows that the record is damaged.
      let table = buffer.table
      let counts = UInt64("first".utf8.count)
      table.view.store(counts, wide: buffer.layout.log(of: buffer.state.generation) + 1)
      try store.write { _ in }
      #expect(buffer.state.end == 0)
      #expect(try notes.text("first") == "first")
    }
  }

  @Test func `a damaged namespace loses no record of another namespace`() throws {
    try BufferedStore.with { store, notes in
      let damaged = store.namespace("damaged")
      // The store and the damaged namespace are so large that a commit evicts ahead.
      try store.declare(StoreLimits(entries: 1014))
      try damaged.fill(0..<1000)
      try notes.fill(0..<10)
      let id = try damaged.id
      let sound = try BufferedStore.damage(damaged)
      try notes.set("record", for: "k")
      let (buffer, key) = (store.engine.reader.buffer!, MetadataKey.namespace("damaged"))
      let changes = store.changes()
      try store.write { batch in
        #expect(try batch.session.nameForSubscribers(of: id) == [])
        try batch.session.transaction.put(sound, for: key, in: .main)
      }
      withExtendedLifetime(changes) {}
      #expect(!buffer.hasRecords)
      let lost = try store.statistics().writeBuffer?.lost
      #expect(try notes.text("k") == "record" && damaged.bytes("k") == [1] && lost == 1)
    }
  }

  @Test func `a failed transaction after a killed commit sets no room`() throws {
    try BufferedStore.with { store, _ in
      let (buffer, environment) = (store.engine.reader.buffer!, store.engine.environment)
      let table = buffer.table
      try store.write { batch in
        // Simulates that the process of the last commit was killed before the freeze ended.
        let base = BufferLayout.Place.base + buffer.state.base
        table.view.store(environment.lastTransaction - 1, wide: base)
        var hold = BufferHold(buffer, without: LostRecords())
        hold.note(batch.session)
        hold.end(newest: environment.lastTransaction, in: environment, keepsFrozen: false)
        #expect(BufferRoom(at: BufferLayout.Place.room, table.view).entries == 0)
      }
    }
  }

  #if os(Linux)
    @Test(arguments: [(ENOSPC, "full"), (EIO, "failed")])
    func `a disk that refuses a commit loses no record`(error: Int32, code: String) throws {
      let refusal = directory.path + "/refuse"
      let peer = try PeerProcess(
        "refuse-buffer-commit", path, ["\(error)", refusal],
        under: PowerRecorder.recording(path, in: directory.path + "/trace")
          + ["LARDER_POWER_REFUSE=\(refusal)"])
      #expect(
        peer.lines() == [
          "get record", "set \(code)", "count \(code)", "get record", "set mended", "count 2",
        ])
      #expect(try peer.end() == 0)
    }
  #endif

  @Test func `when the files are gone a write throws after the next commit in time`() throws {
    let timer = ManualTimer()
    let options = with(BufferedStore.options()) { $0.hooks.timer = { timer.start($0, $1) } }
    let notes = try Store(at: path, options: options).namespace("notes")
    for number in 0..<3 { try notes.set("\(number)", for: "k") }
    try FileManager.default.removeItem(atPath: path)
    timer.runOut()
    #expect(failure { try notes.set("lost", for: "k") } != nil)
    #expect(failure { try notes.store.close() } != nil)
  }

  @Test func `a file that cannot be mapped refuses the opening, and keeps its entries`() throws {
    try PeerProcess("pop-buffered", path, saying: "buffered").kill()
    // The store refuses a buffer file with a second hard link, because another user could change the file through that link.
    try FileManager.default.linkItem(atPath: path + "/buffer", toPath: directory.path + "/link")
    for readOnly in [true, false] {
      let options = BufferedStore.options(readOnly: readOnly)
      #expect(failure { try Store(at: path, options: options).close() } == .cannotOpen)
    }
    try FileManager.default.removeItem(atPath: directory.path + "/link")
    let store = try Store(at: path, options: BufferedStore.options())
    #expect(try store.namespace("notes").text("popped") == "record")
    try store.verifyAndClose()
  }
}
