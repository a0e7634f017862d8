import Foundation
import LarderPeer
import TestSupport
import Testing

@testable import LMDB

#if os(Linux)
  /// After a failed sync, every process treats the data of this sync as lost until an opening recovers the store.
  /// `PowerRecorder` makes one sync of a peer fail, and later syncs succeed, as they do on Linux.
  @Suite struct `Failed syncs` {
    let directory = TemporaryDirectory()

    private func recording(_ fault: String) throws -> [String] {
      try PowerRecorder.recording(directory.store, in: directory.path + "/trace") + [fault]
    }

    /// A peer that has done what the words say. After a call of `fail`, the next sync of the peer fails.
    private func peer(_ words: String...) throws -> PeerProcess {
      let peer = try PeerProcess(
        "sync-words", directory.store, under: recording("LARDER_POWER_FAIL=\(directory.path)/fail"),
        saying: "ready")
      for word in words { #expect(try peer.ask(word) == "done", "\(word)") }
      return peer
    }

    private func fail(_ file: String) throws { try directory.write(file, to: "fail") }

    /// Two peers that have the store open. The first peer writes 1, syncs, and writes 2. The next sync of the first peer fails.
    private func peersWithFailedSync(_ opening: String = "open") throws -> (
      first: PeerProcess, second: PeerProcess
    ) {
      let (first, second) = (try peer(opening, "set 1", "sync", "set 2"), try peer(opening))
      try fail("data.mdb")
      #expect(try first.ask("sync") == "EIO")
      return (first, second)
    }

    private var options: EnvironmentOptions {
      with(Fixture.options()) { $0.checkpointInterval = .seconds(3600) }
    }

    /// The value of key 5 after an opening while no other process has the store open. Nil if the value is lost.
    private func recovered() throws -> [UInt8]? {
      let environment = try Fixture.open(directory.store, options)
      defer { #expect(environment.close()) }
      let value = try environment.value([5])
      try environment.set([6], [1])
      try environment.sync()
      return value
    }

    @Test func `checkpointed: after a failed sync no process calls anything synced`() throws {
      let peer = try peer("open", "set 1", "sync")
      let mine = try Fixture.open(directory.store, options)
      #expect(try peer.ask("set 2") == "done")
      try fail("data.mdb")
      #expect(try peer.ask("sync") == "EIO")
      // The system would now sync the file without an error. But the data of the failed sync are lost, so every call must fail.
      #expect(failure { try mine.sync() } == .syncFailed)
      #expect(failure { try mine.set([5], [3]) } == .syncFailed)
      #expect(failure { _ = try mine.value([5]) } == .syncFailed)
      #expect(try peer.ask("sync") == "unsynced")
      #expect(refusal(directory.store, options) == .unsynced)
      #expect(try peer.ask("close") == "unsynced")
      mine.close()
      #expect(mine.takeClosingFailure() == .syncFailed)
      #expect(try recovered() == [1])
    }

    @Test func `checkpointed: an opening beside other processes is refused with words`() throws {
      let (first, second) = try peersWithFailedSync()
      let error = openError(directory.store, options)
      #expect(error?.kind == .unsynced)
      #expect(error?.description.contains("Input/output error") == true)
      #expect(error?.description.contains("\(second.identifier)") == true)
      #expect(error?.recoverySuggestion.contains("close the store in every process") == true)
      // The second process made no write, so it lost no data. But the close of the second process must report the failed sync.
      #expect(try [second.ask("close"), first.ask("close")] == ["unsynced", "unsynced"])
      #expect(try recovered() == [1])
    }

    @Test func `checkpointed: a write without its own checkpoint learns of a failed sync`() throws {
      let (first, second) = try peersWithFailedSync()
      for peer in [first, second] { #expect(try peer.ask("set 3") == "unsynced") }
      #expect(try second.ask("compact") == "unsynced")
      // The refused opening closes the store in the second process, so the first process can then recover the store.
      #expect(try second.ask("open") == "refused unsynced")
      #expect(try first.ask("open") == "done")
      #expect(try first.ask("get") == "[1]")
      for word in ["open", "set 4", "sync", "close"] { #expect(try second.ask(word) == "done") }
      #expect(try first.ask("close") == "done")
      #expect(try recovered() == [4])
    }

    @Test func `checkpointed: the last to close calls nothing saved after a failed sync`() throws {
      let (first, second) = try peersWithFailedSync()
      first.kill()
      #expect(try second.ask("close") == "unsynced")
      #expect(try recovered() == [1])
    }

    @Test func `scratch: a failed sync empties the store, and nobody is told otherwise`() throws {
      let (first, second) = try peersWithFailedSync("open scratch")
      #expect(try [first.ask("sync"), second.ask("sync")] == ["unsynced", "unsynced"])
      #expect(refusal(directory.store, options) == .unsynced)
      #expect(try [second.ask("close"), first.ask("close")] == ["unsynced", "unsynced"])
      #expect(try recovered() == nil)
    }

    @Test(arguments: ["data.mdb", "recovery"], ["checkpointed", "scratch"])
    func `closing reports a sync that fails`(file: String, level: String) throws {
      let peer = try peer("open \(level)", "set 1")
      try fail(file)
      #expect(try peer.ask("close") == "EIO")
      for word in ["close", "open"] { #expect(try peer.ask(word) == "done") }
      // If the sync of `recovery` fails, the earlier sync of the data has succeeded, so the value is not lost.
      #expect(try peer.ask("get") == (file == "recovery" ? "[1]" : "[]"))
      for word in ["sync", "close"] { #expect(try peer.ask(word) == "done") }
      let record = try RecoveryFile(opening: directory.store + "/recovery").readSynced()
      #expect(record?.isFailed == false && record?.isDirty == false)
    }

    @Test func `a change of level does not make durable what a failed sync has lost`() throws {
      try peer("open", "set 1", "sync", "set 2").kill()
      let second = try peer()
      try fail("data.mdb")
      for answer in ["refused system", "done"] {
        #expect(try second.ask("change durable") == answer)
      }
      #expect(try [second.ask("get"), second.ask("close")] == ["[1]", "done"])
    }

    @Test func `compaction does not make durable what a failed sync has lost`() throws {
      let peer = try peer("open", "set 1", "sync", "set 2")
      try fail("data.mdb")
      let answers = try ["compact", "open", "get", "close"].map { try peer.ask($0) }
      #expect(answers == ["EIO", "done", "[1]", "done"])
    }

    @Test func `a store whose directory could not be synced is made anew`() throws {
      let peer = try peer()
      try fail("")
      #expect(try peer.ask("open durable") == "refused notCreated")
      #expect(!FileManager.default.fileExists(atPath: directory.store + "/data.mdb"))
      for word in ["open", "set 1", "close"] { #expect(try peer.ask(word) == "done") }
    }

    @Test func `a sync that a signal interrupts is repeated`() throws {
      let peer = try PeerProcess(
        "write-and-stay", directory.store, under: recording("LARDER_POWER_INTERRUPT=1"))
      let written = try #require(peer.line())
      let transaction = try #require(UInt64(written.split(separator: " ").last ?? ""), "\(written)")
      #expect(try peer.end() == 0)
      let recovery = try RecoveryFile(opening: directory.store + "/recovery")
      #expect(try recovery.readSynced()?.recoveryPoint?.transaction == transaction)
    }
  }
#endif
