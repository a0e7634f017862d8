import Foundation
import LarderPeer
import LarderSystem
import TestSupport
import Testing

@testable import LMDB

/// Tests that simulate a power cut. The tests open a copy of the files with the boot identity of a later start of the machine.
/// The copy has all written data, even without a sync. The tests in `PowerCut` simulate the loss of written data.
@Suite struct `Durability levels` {
  let directory = TemporaryDirectory()

  private func readOnly(_ options: EnvironmentOptions) -> EnvironmentOptions {
    with(options) { $0.readOnly = true }
  }

  /// Copies the store and returns the path of the copy. The copy also has the data that only the system's file cache has.
  private func copy(_ name: String) throws -> String {
    let files = ["data.mdb", "recovery"].filter {
      FileManager.default.fileExists(atPath: directory.store + "/" + $0)
    }
    try directory.copy(files, to: name)
    return directory.path + "/" + name
  }

  private func value(_ path: String, _ options: EnvironmentOptions) throws -> [UInt8]? {
    let environment = try Fixture.open(path, options)
    defer { environment.close() }
    return try environment.value([5])
  }

  @Test(arguments: DurabilityLevel.allCases)
  func `a store keeps the level that it was made with`(level: DurabilityLevel) throws {
    try Fixture.open(directory.store, options(level)).close()
    let environment = try Fixture.open(directory.store, options(nil))
    #expect(environment.durability == level)
    for other in DurabilityLevel.allCases where other != level {
      #expect(refusal(directory.store, options(other)) == .otherDurability)
    }
    #expect(environment.isOpen)
    environment.close()
    let other: DurabilityLevel = level == .durable ? .scratch : .durable
    #expect(refusal(directory.store, options(other)) == .otherDurability)
    let hasBoot = FileManager.default.fileExists(atPath: directory.store + "/recovery")
    #expect(hasBoot == (level == .checkpointed || level == .scratch))
  }

  @Test func `checkpointed: a power cut leaves the last checkpoint, a kill everything`() throws {
    let environment = try Fixture.open(directory.store, options(.checkpointed))
    try environment.set([5], [1])
    try environment.sync()
    let saved = environment.lastTransaction
    for number in 2..<40 {
      try environment.set([5], [UInt8](repeating: UInt8(number), count: 9000))
    }
    let (killed, cut) = (try copy("killed"), try copy("cut"))
    #expect(try value(killed, options(nil))?.first == 39)
    let before = try TemporaryDirectory.listing(cut)
    #expect(refusal(cut, readOnly(options(nil, boot: 2))) == .needsRecovery)
    #expect(try TemporaryDirectory.listing(cut).filter { !$0.key.hasPrefix("lock.") } == before)
    let recovered = try Fixture.open(cut, options(nil, boot: 2))
    #expect(recovered.lastTransaction == saved)
    #expect(try recovered.value([5]) == [1])
    try recovered.set([5], [2])
    #expect(try recovered.value([5]) == [2])
    recovered.close()
    #expect(try value(cut, readOnly(options(nil, boot: 3))) == [2])
    environment.close()
    #expect(try value(directory.store, readOnly(options(nil, boot: 2)))?.first == 39)
  }

  @Test func `checkpointed: opening for writing makes what a killed process left safe`() throws {
    let environment = try Fixture.open(directory.store, options(.checkpointed))
    try environment.set([5], [1])
    try environment.sync()
    try environment.set([5], [2])
    let killed = try copy("killed")
    environment.close()
    try Fixture.open(killed, readOnly(options(nil))).close()
    let boot = try RecoveryFile(opening: killed + "/recovery")
    let before = try #require(try boot.read()?.recoveryPoint)
    let opened = try Fixture.open(killed, options(nil, interval: .milliseconds(1)))
    #expect(before.transaction < opened.lastTransaction)
    #expect(
      eventually { (try? boot.readSynced()?.recoveryPoint?.transaction) == opened.lastTransaction })
    #expect(try opened.value([5]) == [2])
    opened.close()
  }

  @Test func `scratch: a power cut empties a store with writes since a sync or close`() throws {
    let environment = try Fixture.open(directory.store, options(.scratch))
    #expect(try value(copy("new"), options(nil, boot: 2)) == nil)
    try environment.set([5], [1])
    let cut = try copy("cut")
    #expect(refusal(cut, readOnly(options(nil, boot: 2))) == .needsRecovery)
    #expect(try value(copy("killed"), options(nil)) == [1])
    let emptied = try Fixture.open(cut, options(nil, boot: 2))
    #expect(try [emptied.value([5]), emptied.value(Fixture.signature)] == [nil, [1]])
    try emptied.set([5], [2])
    emptied.close()
    #expect(try value(cut, options(nil, boot: 3)) == [2])

    try environment.sync()
    #expect(try value(copy("synced"), options(nil, boot: 2)) == [1])
    try environment.set([5], [3])
    #expect(try value(copy("written"), options(nil, boot: 2)) == nil)
    environment.close()
    #expect(try value(directory.store, options(nil, boot: 2)) == [3])
  }

  @Test(arguments: [DurabilityLevel.checkpointed, .scratch])
  func `a writer behind a read-only handle makes its writes safe`(level: DurabilityLevel) throws {
    try Fixture.open(directory.store, options(level)).close()
    let reader = try Fixture.open(directory.store, readOnly(options(level)))
    let writer = try Fixture.open(directory.store, options(level))
    try writer.set([5], [1])
    try writer.sync()
    try writer.set([5], [2])
    #expect(writer === reader && writer.close() && writer.takeClosingFailure() == nil)
    #expect(try value(directory.store, options(nil, boot: 2)) == [2])
  }

  @Test func `scratch: while another process has it open, closing settles nothing`() throws {
    let first = try Fixture.open(directory.store, options(.scratch))
    try first.set([5], [1])
    let other = try PeerProcess("number", directory.store, ["1", "2"])
    #expect(eventually { other.soFar.count > 3 })
    first.close()
    #expect(try value(copy("cut"), options(nil, boot: 2)) == nil)
    other.kill()
  }

  @Test func `scratch: the last to close settles what others wrote, even if it only reads`() throws
  {
    try Fixture.open(directory.store, Fixture.options(durability: .scratch)).close()
    let reader = try Fixture.open(directory.store, readOnly(Fixture.options()))
    let other = try PeerProcess("number", directory.store, ["1", "2"])
    #expect(eventually { other.soFar.count > 3 })
    other.kill()
    #expect(reader.close())
    #expect(try RecoveryFile(opening: directory.store + "/recovery").readSynced()?.isDirty == false)
  }

  @Test func `checkpointed: a checkpoint follows a commit by itself and ends its pin`() throws {
    let environment = try Fixture.open(
      directory.store, options(.checkpointed, interval: .milliseconds(20)))
    let file = try RecoveryFile(opening: directory.store + "/recovery")
    for number in 1...3 {
      try environment.set([5], [UInt8(number)])
      let last = environment.lastTransaction
      #expect(try eventually { try file.read()?.recoveryPoint?.transaction == last })
      #expect(try eventually { try environment.readerTable.readers().isEmpty })
    }
    // The timer makes no checkpoint after this sync, because no commit follows.
    try environment.sync()
    #expect(try eventually { try environment.readerTable.readers().isEmpty })
    environment.close()
  }

  @Test func `checkpointed: after a sync that gave up a checkpoint follows by itself`() throws {
    let impatient = with(options(.checkpointed, interval: .milliseconds(300))) {
      $0.lockTimeout = .milliseconds(600)
    }
    let environment = try Fixture.open(directory.store, impatient)
    let other = try FileLock(opening: directory.store + "/lock.checkpoint", in: ForkGuard())
    try environment.set([5], [1])
    #expect(try other.take())
    #expect(failure { try environment.sync() } == .checkpointBusy)
    other.release()
    let (file, last) = (try #require(environment.recovery).file, environment.lastTransaction)
    #expect(try eventually { try file.readSynced()?.recoveryPoint?.transaction == last })
    environment.close()
  }

  @Test func `checkpointed: while commits wait for their checkpoint its pages are pinned`() throws {
    let environment = try Fixture.open(directory.store, options(.checkpointed))
    try environment.set([5], [1])
    let pinned = { try environment.readerTable.readers().compactMap(\.transaction) }
    #expect(try pinned() == [environment.lastTransaction - 1])
    try environment.sync()
    #expect(try pinned() == [environment.lastTransaction])
  }

  @Test func `checkpointed: a killed writer's pin is let go of by the next checkpoint`() throws {
    let environment = try Fixture.open(directory.store, options(.checkpointed))
    let peer = try PeerProcess("number", directory.store, ["1", "1"])
    #expect(eventually { peer.soFar.count > 3 })
    peer.kill()
    #expect(try environment.readerTable.readers().contains { $0.process == peer.identifier })
    try environment.set([5], [1])
    #expect(try !environment.readerTable.readers().contains { $0.process == peer.identifier })
  }

  @Test func `checkpointed: the last to close saves what a killed process wrote`() throws {
    // The peer uses the real boot identity of the machine, so this process must also use the real identity.
    let mine = try Fixture.open(directory.store, Fixture.options(durability: .checkpointed))
    let peer = try PeerProcess("number", directory.store, ["1", "1"])
    #expect(eventually { peer.soFar.count > 3 })
    peer.kill()
    let last = mine.lastTransaction
    mine.close()
    let file = try RecoveryFile(opening: directory.store + "/recovery")
    #expect(try file.read()?.recoveryPoint?.transaction == last)
  }

  @Test(arguments: [DurabilityLevel.checkpointed, .scratch])
  func `without its file recovery a store is refused`(level: DurabilityLevel) throws {
    try Fixture.open(directory.store, options(level)).close()
    let boot = directory.store + "/recovery"
    let bytes = try Data(contentsOf: URL(fileURLWithPath: boot))
    try FileManager.default.removeItem(atPath: boot)
    #expect(refusal(directory.store, options(nil)) == .damaged)
    let changing = with(options(.durable)) { $0.durabilityChange = { _ in } }
    #expect(refusal(directory.store, changing) == .damaged)
    try makePrivateFile(boot, Data(count: bytes.count))
    #expect(refusal(directory.store, options(nil)) == .damaged)
    try makePrivateFile(boot, bytes)
    #expect(refusal(directory.store, options(nil)) == nil)
  }

  @Test func `a torn record leaves the one before`() throws {
    let path = directory.path + "/recovery"
    var record = RecoveryRecord(
      level: .checkpointed, boot: BootIdentity(1, 2), data: .none, recoveryPoint: nil)
    try RecoveryFile.create(path, record)
    let file = try RecoveryFile(opening: path)
    record.recoveryPoint = MetaImage(pageSize: 4096, bytes: (0..<152).map { UInt8($0) })
    try file.replace(record)
    #expect(try file.read()?.recoveryPoint == record.recoveryPoint)
    #expect(try file.read()?.sequence == 2)
    for offset in stride(from: 0, to: RecoveryRecord.size, by: 17) {
      let bytes = with(try Data(contentsOf: URL(fileURLWithPath: path))) { $0[offset] ^= 1 }
      try makePrivateFile(path + "-torn", bytes)
      let torn = try RecoveryFile(opening: path + "-torn").read()
      #expect(torn?.sequence == 1 && torn?.recoveryPoint == nil)
    }
  }

  @Test func `every level can be changed into every other, and nothing is lost`() throws {
    var last: UInt8 = 0
    let levels = DurabilityLevel.allCases.filter { $0 != .temporary }
    try Fixture.open(directory.store, options(.durable)).close()
    // A change that is killed, or finds the disk full, may leave a file without a record.
    try makePrivateFile(directory.store + "/recovery")
    for from in levels {
      for to in levels {
        for level in [from, to] {
          let changing = with(options(level)) { $0.durabilityChange = { _ in } }
          let environment = try Fixture.open(directory.store, changing)
          #expect(environment.durability == level)
          #expect(try environment.value([5])?.first ?? 0 == last)
          if level != to {
            last += 1
            try environment.set([5], [last])
          }
          environment.close()
        }
        #expect(try value(directory.store, options(to, boot: 2))?.first ?? 0 == last)
      }
    }
  }

  @Test func `the level of a store that is open elsewhere is not changed`() throws {
    let environment = try Fixture.open(directory.store, options(.durable))
    let changing = with(options(.checkpointed)) { $0.durabilityChange = { _ in } }
    #expect(refusal(directory.store, changing) == .otherDurability)
    #expect(try environment.value(Fixture.signature) == [1])
    environment.close()
    let peer = try PeerProcess("hold", directory.store, saying: "open")
    #expect(refusal(directory.store, changing) == .otherDurability)
    #expect(try peer.end() == 0)
  }

  @Test func `the machine's start is the same for all who ask`() throws {
    #expect(try BootIdentity.current() == BootIdentity.current())
    #expect(try BootIdentity.current() != RecoveryRecord.noBoot)
    #expect(
      BootIdentity(Array("00000000-0000-0001-0000-0000000000ff\n".utf8)) == BootIdentity(1, 255))
    #expect(BootIdentity(Array("none".utf8)) == nil)
    #expect(LMDBError.noBootIdentity.recoverySuggestion.contains("ProcSubset"))
  }
}
