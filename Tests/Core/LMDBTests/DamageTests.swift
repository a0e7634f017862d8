import Foundation
import LMDB
import LarderPeer
import LarderSystem
import TestSupport
import Testing

@Suite struct `Damaged files` {
  let directory = TemporaryDirectory()
  private static let records = 4000

  /// Makes a store with several levels of pages, free pages, and values that need pages of their own. Returns the data file.
  private func makeStore() throws -> Data {
    let environment = try Fixture.open(directory.store)
    let second = environment.databases[0]
    for start in stride(from: 0, to: Self.records, by: 1000) {
      try environment.write { transaction in
        for number in start..<start + 1000 {
          let value = Fixture.filling(number, count: number % 500 == 0 ? 20_000 : number % 120)
          try transaction.put(value.span, for: Fixture.bytes(number).span, in: second)
          try transaction.put(value.span, for: Fixture.bytes(number * 3).span, in: .main)
        }
      }
    }
    try environment.write { transaction in
      for number in stride(from: 0, to: Self.records, by: 3) { try transaction.remove(number * 3) }
    }
    environment.close()
    return try Data(contentsOf: URL(fileURLWithPath: directory.store + "/data.mdb"))
  }

  private func place(_ bytes: Data, _ name: String) throws -> String {
    let store = directory.path + "/" + name
    try makePrivateDirectory(store)
    try makePrivateFile(store + "/data.mdb", bytes)
    return store
  }

  private func isWhole(_ environment: Environment) throws -> Bool {
    let read = try environment.beginRead()
    let second = environment.databases[0]
    for number in 0..<Self.records {
      let value = Fixture.filling(number, count: number % 500 == 0 ? 20_000 : number % 120)
      if try read.copy(Fixture.bytes(number), in: second) != value { return false }
      if try read.copy(Fixture.bytes(number * 3)) != (number % 3 == 0 ? nil : value) {
        return false
      }
    }
    return true
  }

  @Test func `a salvage finds the page size in the second meta page`() throws {
    var bytes = Data(count: 3 * 16_384)
    for (offset, word) in [
      (16, 1 << 32 | 0xBEEF_C0DE), (40, 8 << 32 | 16_384), (80, .max), (128, .max), (136, 1),
      (144, 3),
    ] as [(Int, UInt64)] {
      let start = 16_384 + offset
      bytes.replaceSubrange(start..<start + 8, with: [UInt8](littleEndian: word))
    }
    #expect(try SalvageFile(at: place(bytes, "salvaged")).newestCommit == 3)
  }

  @Test(arguments: [0, 1]) func `a salvage survives a wrong page size`(page: Int) throws {
    var bytes = try makeStore()
    bytes[page * 4096 + 41] = 0x20
    let file = try SalvageFile(at: place(bytes, "salvaged"))
    var found = 0
    _ = try file.forEachRecord(in: "second") { _, _ in found += 1 }
    #expect(found == Self.records)
  }

  @Test func `a file cut short is refused, or nothing of it is lost`() throws {
    let bytes = try makeStore()
    #expect(bytes.count > 100 * 4096)
    var random = SeededRNG(seed: seed)
    var lengths = [
      1, 151, 152, 4095, 4096, 4097, 8191, 8192, 8193, bytes.count - 1, bytes.count - 4096,
    ]
    lengths += (0..<60).map { _ in Int.random(in: 1..<bytes.count, using: &random) }
    lengths += (0..<30).map { _ in Int.random(in: 2..<bytes.count / 4096, using: &random) * 4096 }
    for length in lengths {
      let store = try place(bytes.prefix(length), "cut-\(UUID().uuidString)")
      let before = try TemporaryDirectory.listing(store)
      switch refusal(store) {
      case nil: #expect(try isWhole(Fixture.open(store)), "LARDER_SEED=\(seed), \(length) bytes")
      case .notLMDB, .truncated, .damaged: #expect(try TemporaryDirectory.listing(store) == before)
      case let kind: Issue.record("refused as \(kind!), LARDER_SEED=\(seed), \(length) bytes")
      }
    }
  }

  @Test func `the whole file opens, and so does one with bytes after its end`() throws {
    let bytes = try makeStore()
    #expect(try isWhole(Fixture.open(place(bytes, "whole"))))
    #expect(try isWhole(Fixture.open(place(bytes + Data(repeating: 9, count: 9000), "longer"))))
  }

  /// LMDB does not write a page that one transaction both takes and frees. So the end of an undamaged file may lack pages.
  @Test func `a file that lacks free pages at its end opens, and nothing of it is lost`() throws {
    var random = SeededRNG(seed: UInt64(seed))
    var short = 0
    for round in 0..<25 {
      let store = directory.store + "\(round)"
      let environment = try Fixture.open(store)
      var model: [Int: Int] = [:]
      for _ in 0..<12 {
        try environment.write { transaction in
          try transaction.put(100, size: Int.random(in: 0..<60_000, using: &random))
          for _ in 0..<Int.random(in: 1...60, using: &random) {
            let number = Int.random(in: 0..<80, using: &random)
            if Bool.random(using: &random) {
              let size = Int.random(in: 0..<9000, using: &random)
              try transaction.put(number, size: size)
              model[number] = size
            } else {
              try transaction.remove(number)
              model[number] = nil
            }
          }
          try transaction.remove(100)
        }
      }
      let info = environment.info
      environment.close()
      let size = try Data(contentsOf: URL(fileURLWithPath: store + "/data.mdb")).count
      if size < info.pages * info.pageSize { short += 1 }
      let again = try Fixture.open(store)
      for number in 0..<80 {
        let expected = model[number].map { Fixture.filling(number, count: $0) }
        #expect(
          try again.value(Fixture.bytes(number)) == expected, "LARDER_SEED=\(seed), round \(round)")
      }
    }
    #expect(short > 0, "no file was short: the test proves nothing (LARDER_SEED=\(seed))")
  }

  @Test func `commit numbers and page sizes that cannot be are damage`() throws {
    let bytes = try makeStore()
    func expectDamage(_ name: String, _ change: (inout Data) -> Void) throws {
      var damaged = bytes
      change(&damaged)
      #expect(try refusal(place(damaged, name)) == .damaged, "\(name)")
    }
    for newest: UInt64 in [UInt64(1) << 63, UInt64.max - 1, UInt64.max - 3] {
      try expectDamage("number \(newest)") {
        $0.replaceSubrange(144..<152, with: [UInt8](littleEndian: newest & ~1))
        $0.replaceSubrange(4096 + 144..<4096 + 152, with: [UInt8](littleEndian: newest | 1))
      }
    }
    for size: UInt32 in [0, 256, 4095, 65_536, .max] {
      try expectDamage("size \(size)") {
        $0.replaceSubrange(40..<44, with: [UInt8](littleEndian: size))
      }
    }
  }

  @Test func `numbers that change below an open environment are errors`() throws {
    _ = try makeStore()
    let environment = try Fixture.open(directory.store)
    let file = try FileDescriptor(opening: directory.store + "/data.mdb", O_RDWR)
    let meta = Int(environment.lastTransaction % 2) * 4096
    // The number of the last page is at offset 136, and the number of the commit is at offset 144.
    for (offset, value) in [(136, UInt64.max), (136, 1 << 63), (144, .max), (144, 1 << 63)] {
      let before = try file.contents(at: meta + offset, count: 8)
      try file.write([UInt8](littleEndian: value), at: meta + offset)
      #expect(throws: LMDBError.self) { try environment.set([1], [1]) }
      _ = environment.info
      try file.write(before, at: meta + offset)
    }
  }

  @Test func `flipped bits in the pages that opening relies on never crash it`() throws {
    _ = try makeStore()
    let rounds = 400 * TestSettings.trials
    let peer = try PeerProcess("damage", directory.store, ["\(seed)", "\(rounds)"])
    let lines = peer.lines()
    #expect(lines.last == "survived", "LARDER_SEED=\(seed): \(lines.suffix(2))")
    #expect(lines.count { $0.hasPrefix("refused") } > rounds / 6)
    #expect(try peer.end() == 0)
  }

  private func setLastPage(_ number: UInt64) throws {
    let file = try FileDescriptor(opening: directory.store + "/data.mdb", O_RDWR)
    for page in 0..<2 { try file.write([UInt8](littleEndian: number), at: page * 4096 + 136) }
  }

  @Test(arguments: [1 << 34, 1 << 40, 1 << 62, 1 << 63])
  func `a last page that no file has is damage, not a map to wait for`(number: UInt64) throws {
    let options = Fixture.options(mapSize: 1 << 20, lockTimeout: .milliseconds(200))
    let environment = try Fixture.open(directory.store, options)
    try environment.set([1], [2])
    #expect(try environment.value([1]) == [2])
    try setLastPage(number)
    #expect(failure { _ = try environment.value([1]) } == .damagedPage)
    #expect(failure { try environment.set([1], [3]) } == .damagedPage)
    #expect(failure { _ = try environment.value([1]) } == .damagedPage)
  }

  @Test(arguments: [1 << 62, 1 << 63, UInt64(Int64.max), UInt64.max])
  func `a write under way does not calculate with such a number`(number: UInt64) throws {
    let environment = try Fixture.open(directory.store)
    try environment.set([1], [2])
    let error = failure {
      try environment.write { transaction in
        try setLastPage(number)
        let behind = transaction.pagesBehindLast(limit: 1 << 30)
        #expect(behind == 0)
        _ = try transaction.hasRun(of: 3, limit: 1 << 30)
      }
    }
    #expect(error != nil)
  }
}
