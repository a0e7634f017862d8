import Foundation
import LarderSystem
import TestSupport
import Testing

@testable import Larder

@Suite struct AccessDamage {
  enum Harm: CaseIterable {
    case lost, old, scribbled, header, truncated, emptied, longer, foreign, directory
  }

  @Test(arguments: Harm.allCases)
  func `a lost, old, damaged or foreign table changes nothing that is read`(_ harm: Harm) throws {
    try withTemporaryDirectory { path in
      var random = SeededRNG()
      let table = path + "/s/access"
      let manager = FileManager.default
      var expected = try fill(path + "/s", keys: 0..<300, &random)
      let old = try #require(manager.contents(atPath: table))
      expected.merge(try fill(path + "/s", keys: 300..<600, &random)) { $1 }
      var bytes = try #require(manager.contents(atPath: table))
      switch harm {
      case .lost, .directory: try manager.removeItem(atPath: table)
      case .old: bytes = old
      case .scribbled: bytes = bytes.prefix(128) + random.bytes(bytes.count - 128)
      case .header:
        for _ in 0..<3 { bytes[random.next(in: 0..<128)] ^= 1 << UInt8(random.next(in: 0..<8)) }
      case .truncated: bytes = bytes.prefix(.random(in: 1..<bytes.count, using: &random))
      case .emptied: bytes = Data()
      case .longer: bytes += Data(count: 24 * 4096)
      case .foreign:
        _ = try fill(path + "/other", keys: 0..<300, &random)
        bytes = try #require(manager.contents(atPath: path + "/other/access"))
      }
      if harm == .directory {
        try manager.createDirectory(atPath: table, withIntermediateDirectories: false)
      } else if harm != .lost {
        try makePrivateFile(table, bytes)
      }
      let store = try Store(at: path + "/s")
      let notes = store.namespace("notes")
      for (key, value) in expected {
        #expect(try notes.bytes("\(key)") == value, "LARDER_SEED=\(random.seed)")
      }
      // Expects that the newest entry is always there, that the limit always holds, and that only written values are found.
      try store.declare(Rules(limits: Limits(entries: 400)), for: "notes")
      for number in 0..<2000 {
        let key = random.next(in: 0..<1200)
        try use(key, of: notes, [UInt8(truncatingIfNeeded: number)], &expected, number)
      }
      #expect(try notes.count() == 400)
      try store.verifyAndClose("LARDER_SEED=\(random.seed)")
    }
  }

  /// Expects that a read returns the newest value of a key or nothing. If it finds nothing, stores and reads `value`.
  private func use(
    _ key: Int, of notes: Store.Namespace, _ value: [UInt8], _ expected: inout [Int: [UInt8]],
    _ step: Int
  ) throws {
    let moment: Comment = "LARDER_SEED=\(TestSettings.seed), step \(step)"
    let found = try notes.bytes("\(key)")
    try #require(found == nil || found == expected[key], moment)
    guard found == nil else { return }
    expected[key] = value
    try notes.set(value, for: "\(key)")
    try #require(try notes.bytes("\(key)") == value, moment)
  }

  @Test func `nonsense that somebody writes into a table changes nothing that is read`() throws {
    try withStore { store, _ in
      var random = SeededRNG()
      let notes = store.namespace("notes")
      try store.declare(Rules(limits: Limits(entries: 100, bytes: 5000)), for: "notes")
      var expected: [Int: [UInt8]] = [:]
      for number in 0..<3000 {
        // Overwrites random words of the table, and in half of the rounds also a word of the table's header.
        let view = store.engine.access.words.view
        for _ in 0..<200 {
          view[random.next(in: 0..<view.count)] = UInt32(truncatingIfNeeded: random.next())
        }
        if random.chance(percent: 50) {
          view.setNote(random.next(in: 0..<SharedTable.View.noteCount), random.next())
        }
        let key = random.next(in: 0..<400)
        let value = [UInt8](
          repeating: UInt8(truncatingIfNeeded: number), count: .random(in: 1...200, using: &random))
        try use(key, of: notes, value, &expected, number)
        let facts = try #require(try notes.info())
        try #require(
          facts.entries <= 100 && facts.bytes <= 5000, "LARDER_SEED=\(random.seed), step \(number)")
      }
    }
  }

  private func fill(
    _ path: String, keys: Range<Int>, _ random: inout SeededRNG
  ) throws -> [Int: [UInt8]] {
    let notes = try Store(at: path).namespace("notes")
    var values: [Int: [UInt8]] = [:]
    try notes.store.write { batch in
      for key in keys {
        values[key] = (0..<Int.random(in: 1...50, using: &random)).map { _ in UInt8(key & 0xFF) }
        try batch.set(values[key]!, for: "\(key)", in: notes)
      }
    }
    for key in keys where Bool.random(using: &random) { _ = try notes.bytes("\(key)") }
    try notes.store.close()
    return values
  }
}
