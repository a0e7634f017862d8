import Foundation
import LarderPeer
import LarderSystem
import TestSupport
import Testing

@testable import LMDB

/// The file `recovery` names its data file. If the store has another data file, an opening ignores `recovery` or fails.
@Suite struct `The file recovery` {
  let directory = TemporaryDirectory()

  private func write(_ value: UInt8, _ level: DurabilityLevel, to name: String = "store") throws {
    let environment = try Fixture.open(directory.path + "/" + name, options(level))
    defer { #expect(environment.close()) }
    for _ in 0..<20 { try environment.set([5], [UInt8](repeating: value, count: 5000)) }
  }

  private func value(_ name: String, boot: UInt64) throws -> UInt8? {
    let environment = try Fixture.open(directory.path + "/" + name, options(nil, boot: boot))
    defer { #expect(environment.close()) }
    return try environment.value([5])?.first
  }

  @Test(arguments: [DurabilityLevel.checkpointed, .scratch])
  func `of a repeated creation belongs to the failed one's data`(level: DurabilityLevel) throws {
    // Simulates with copies that a failed creation removes `data.mdb`, and that a power cut after a later creation restores it.
    try write(1, level)
    try directory.copy(["data.mdb"], to: "first")
    try directory.copy(["recovery"], to: "second")
    try write(2, level, to: "second")
    try directory.copy(["data.mdb"], from: "first", to: "second")
    #expect(try value("second", boot: 1) == 1)
  }

  @Test(arguments: [DurabilityLevel.checkpointed, .scratch], [1, 2] as [UInt64])
  func `a backup beside newer files opens as it was`(level: DurabilityLevel, boot: UInt64) throws {
    try write(1, level)
    try directory.copy(["data.mdb"], to: "backup")
    let writer = try Fixture.open(directory.store, options(level))
    for value in 2..<9 {
      try writer.set([5], [UInt8](repeating: UInt8(value), count: 9000))
      if level == .checkpointed { try writer.sync() }
    }
    // Copies the open store. The copy has the files that a sudden stop of the machine leaves.
    try directory.copy(to: "cut")
    writer.close()
    try directory.copy(["data.mdb"], from: "backup", to: "cut")
    // A process that opens the backup for reading leaves `recovery` unchanged, so the first write must not rely on this file.
    try directory.copy(from: "cut", to: "read")
    let reading = with(options(nil, boot: boot)) { $0.readOnly = true }
    let reader = try Fixture.open(directory.path + "/read", reading)
    try reader.set([5], [9])
    try directory.copy(from: "read", to: "lost")
    reader.close()
    #expect(try value("lost", boot: 3) == (level == .scratch ? nil : 1))
    #expect(try value("cut", boot: boot) == 1)
    let restored = try Fixture.open(directory.path + "/cut", options(nil, boot: boot))
    try restored.set([5], [11])
    try restored.sync()
    try directory.copy(from: "cut", to: "again")
    restored.close()
    #expect(try value("again", boot: 3) == 11)
    // This newer file of the former history has other commits than the restored file.
    try directory.copy(["data.mdb"], to: "again")
    #expect(try value("again", boot: 3) == 8)
  }

  @Test func `a backup from before a change of the level keeps its later writes`() throws {
    try write(1, .durable)
    try directory.copy(["data.mdb"], to: "backup")
    let changing = with(options(.checkpointed)) { $0.durabilityChange = { _ in } }
    try Fixture.open(directory.store, changing).close()
    try write(2, .checkpointed)
    try directory.copy(["data.mdb"], from: "backup", to: "store")
    let reader = try Fixture.open(directory.store, with(options(nil)) { $0.readOnly = true })
    for _ in 0..<30 { try reader.set([5], [9]) }
    reader.close()
    #expect(try value("store", boot: 2) == 9)
  }

  @Test(arguments: [1, 2] as [UInt64])
  func `the data of a compact copy beside its store's files open as before`(boot: UInt64) throws {
    try write(1, .checkpointed)
    let writer = try Fixture.open(directory.store, options(nil))
    try writer.set([5], [2])
    try writer.copyCompacted(to: directory.path + "/compact") { _, _ in true }
    try directory.copy(to: "cut")
    writer.close()
    try directory.copy(["data.mdb"], from: "compact", to: "cut")
    #expect(try value("cut", boot: boot) == 2)
  }

  @Test(
    arguments: [DurabilityLevel.checkpointed, .scratch], [DurabilityLevel.checkpointed, .scratch])
  func `beside the data of another store it is refused, and nothing changes`(
    level: DurabilityLevel, other: DurabilityLevel
  ) throws {
    try write(1, level)
    let writer = try Fixture.open(directory.path + "/other", options(other))
    try writer.set([5], [2])
    try directory.copy(["data.mdb"], to: "mixed")
    try directory.copy(["recovery"], from: "other", to: "mixed")
    writer.close()
    let mixed = directory.path + "/mixed"
    let before = try TemporaryDirectory.listing(mixed).filter { !$0.key.hasPrefix("lock.") }
    for boot in [1, 2] as [UInt64] {
      let error = openError(mixed, options(nil, boot: boot))
      #expect(error?.kind == .otherRecovery)
      #expect(error?.description.contains("recovery") == true)
      #expect(error?.recoverySuggestion.contains("salvage") == true)
      let after = try TemporaryDirectory.listing(mixed).filter { !$0.key.hasPrefix("lock.") }
      #expect(after.filter { $0.key != "." } == before.filter { $0.key != "." })
    }
    // The operator copies the right `recovery` back, so the store opens again.
    try directory.copy(["recovery"], to: "mixed")
    #expect(try value("mixed", boot: 2) == 1)
  }

  @Test func `beside durable data it is not used`() throws {
    try write(1, .durable)
    let writer = try Fixture.open(directory.path + "/other", options(.scratch))
    try writer.set([5], [2])
    try directory.copy(["recovery"], from: "other", to: "store")
    writer.close()
    #expect(try value("store", boot: 2) == 1)
  }

  @Test func `beside durable data it keeps no second process out`() throws {
    try write(1, .durable)
    try write(2, .scratch, to: "other")
    let file = try RecoveryFile(opening: directory.path + "/other/recovery")
    var record = try #require(try file.read())
    (record.boot, record.failure) = (RecoveryRecord.noBoot, EIO)
    try file.replace(record)
    try directory.copy(["recovery"], from: "other", to: "store")
    let peer = try PeerProcess("hold", directory.store, saying: "open")
    #expect(try value("store", boot: 2) == 1)
    #expect(try peer.end() == 0)
  }

  @Test(arguments: [DurabilityLevel.checkpointed, .scratch])
  func `a store of an earlier version without stamps is recovered`(level: DurabilityLevel) throws {
    try write(1, level)
    try DataStamp.none.write(to: directory.store + "/data.mdb")
    try writeVersion1()
    let writer = try Fixture.open(directory.store, options(level))
    try writer.set([5], [2])
    try directory.copy(to: "cut")
    writer.close()
    #expect(try value("cut", boot: 2) == (level == .scratch ? nil : 1))
  }

  /// Writes a recovery record of version 1. A record of this version does not have the stamp that names its data file.
  private func writeVersion1() throws {
    let path = directory.store + "/recovery"
    let record = with(try #require(try RecoveryFile(opening: path).read())) { $0.data = .none }
    var bytes = Array(record.encoded.prefix(RecoveryRecord.size - 8))
    bytes[8] = 1
    bytes.append(
      littleEndian: bytes.reduce(0xCBF2_9CE4_8422_2325 as UInt64) {
        ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01B3
      })
    #expect(RecoveryRecord(bytes) == record)
    var file = try Data(contentsOf: URL(fileURLWithPath: path))
    for place in [0, 4096] { file.replaceSubrange(place..<place + bytes.count, with: bytes) }
    file.replaceSubrange(8200..<8208, with: [UInt8](littleEndian: record.sequence))
    try file.write(to: URL(fileURLWithPath: path))
  }

  @Test func `without a record beside data without a depth is refused`() throws {
    try write(1, .checkpointed)
    let data = try FileDescriptor(opening: directory.store + "/data.mdb", O_RDWR)
    for page in 0..<2 { try data.write([0, 0], at: page * 4096 + MetaPage.Offset.main + 6) }
    try FileDescriptor(opening: directory.store + "/recovery", O_RDWR).truncate(0)
    #expect(refusal(directory.store, options(nil)) == .damaged)
  }

  @Test func `data that are not whole are refused before anything is written`() throws {
    try write(1, .checkpointed)
    let writer = try Fixture.open(directory.store, options(nil))
    try writer.set([5], [2])
    try writer.sync()
    try writer.set([5], [3])
    try directory.copy(to: "cut")
    writer.close()
    let data = directory.path + "/cut/data.mdb"
    for length in [6000, 100] {
      try FileHandle(forWritingTo: URL(fileURLWithPath: data)).truncate(atOffset: UInt64(length))
      #expect(refusal(directory.path + "/cut", options(nil, boot: 2)) != nil)
      #expect(try FileManager.default.attributesOfItem(atPath: data)[.size] as? Int == length)
    }
  }
}
