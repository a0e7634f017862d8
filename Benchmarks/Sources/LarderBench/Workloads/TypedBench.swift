import Foundation
import Larder

/// Hits of decoded values for a thousand hot keys, compared with hits of values of the same size in C.
struct TypedBench {
  private struct Participant {
    var id: String
    var name: String
    var level: Level
    /// Reads these entries and returns the nanoseconds.
    var read: (Order) throws -> Double
  }

  let settings: Settings
  let report: Report
  let data: Dataset
  let keys: [String]
  let order: [UInt32]
  private let raw: Contender
  private let inMemory: LarderTyped
  private let decoding: LarderTyped
  private let sqlite: SQLiteTyped
  private let dictionary: DictionaryTyped
  private let sharded: ShardedTyped
  private let nsCache: NSCacheTyped
  /// The encoded values in the stores.
  private let encoded: [Data]

  init(settings: Settings, report: Report, directory: String) throws {
    self.settings = settings
    self.report = report
    data = Dataset(count: 1000, valueSize: try JSONEncoder().encode(Part(500)).count)
    keys = Array(data.keys[..<data.count])
    order = Orders.random(data, distinct: data.count)
    try FileManager.default.createDirectory(
      atPath: directory, withIntermediateDirectories: true)
    raw = try Contender(
      .lmdb, site: Site(directory: directory + "/lmdb", level: .unsynced, data: data))
    try raw.fill(0..<UInt32(data.count))
    let store = try Store(at: directory + "/larder")
    inMemory = LarderTyped(store, memory: nil)
    decoding = LarderTyped(store, memory: MemoryLimits.off)
    try decoding.fill(keys)
    sqlite = try SQLiteTyped(directory + "/sqlite", keys)
    dictionary = DictionaryTyped(keys)
    sharded = ShardedTyped(keys)
    nsCache = NSCacheTyped(keys)
    encoded = try (0..<UInt32(data.count)).map { try JSONEncoder().encode(Part($0)) }
  }

  func run() throws {
    let larder = "Larder, Cache"
    try measure(
      "typed hit, decoded each time",
      [
        participant("larder", "Larder, no memory", .durable, decoding),
        participant("sqlite", "SQLite (GRDB), JSON", .durable, sqlite), limit,
      ])
    try measure(
      "typed hit, from memory",
      [
        participant("larder", larder, .durable, inMemory),
        participant("dictionary", "Dictionary, locked", .memory, dictionary),
        participant("sharded", "Dictionary, 16 shards", .memory, sharded),
        participant("nscache", "NSCache", .memory, nsCache), limit,
      ])
    try measure(
      "typed hit, from memory, first after a commit elsewhere",
      [
        Participant(id: "larder", name: larder, level: .durable) { _ in
          try inMemory.commitElsewhere()
          return try timed(inMemory, Array(0..<UInt32(data.count))[...])
        }, limit,
      ], count: data.count)
    try measure(
      "typed hit, from memory, in each of two threads",
      [
        inTwo(participant("larder", larder, .durable, inMemory), inMemory),
        inTwo(participant("dictionary", "Dictionary, locked", .memory, dictionary), dictionary),
        inTwo(participant("sharded", "Dictionary, 16 shards", .memory, sharded), sharded),
        inTwo(participant("nscache", "NSCache", .memory, nsCache), nsCache),
      ])
    try measure(
      "contains",
      [
        Participant(id: "larder", name: "Larder, contains", level: .durable) { order in
          try counted(order) { try inMemory.cache.contains($0) }
        },
        Participant(id: "value", name: "Larder, withValue", level: .durable) { order in
          try counted(order) { key in
            try inMemory.cache.namespace.withValue(for: key) { !$0.isEmpty } ?? false
          }
        }, limit,
      ])
    try measure(
      "typed scan, per entry",
      [
        Participant(id: "larder", name: "Larder, entries", level: .durable) { order in
          try repeated(order) { visit in try decoding.scan(visit) }
        },
        Participant(id: "decoder", name: "JSONDecoder, the bytes", level: .memory) { order in
          let decoder = JSONDecoder()
          return try repeated(order) { visit in
            for json in encoded { visit(try decoder.decode(Part.self, from: json)) }
          }
        },
      ])
    try raw.close()
  }

  /// The nanoseconds of the calls of `ask`, one for each key.
  private func counted(_ order: Order, _ ask: (String) throws -> Bool) throws -> Double {
    var count = 0
    let time = try settings.clock.time {
      for index in order where try ask(keys[Int(index)]) { count += 1 }
    }
    guard count == order.count else { throw Failure("found \(count) of \(order.count)") }
    return time
  }

  /// The nanoseconds for the number of entries in `order`, estimated from scans of all entries.
  private func repeated(_ order: Order, _ scan: ((Part) -> Void) throws -> Void) throws -> Double {
    let scans = max(1, order.count / data.count)
    var sum = 0
    let time = try settings.clock.time {
      for _ in 0..<scans { try scan { sum += $0.category } }
    }
    guard sum == scans * (0..<UInt32(data.count)).reduce(0, { $0 + Part($1).category }) else {
      throw Failure("scanned other values")
    }
    return time / Double(scans * data.count) * Double(order.count)
  }

  private func participant(_ id: String, _ name: String, _ level: Level, _ peer: any TypedPeer)
    -> Participant
  {
    Participant(id: id, name: name, level: level) { try timed(peer, $0) }
  }

  private func inTwo(_ one: Participant, _ peer: any TypedPeer) -> Participant {
    var two = one
    let keys = keys
    two.read = { order in
      try onThreads(2, prepare: { _ in }, { _, _ in _ = try peer.read(order, keys) })
    }
    return two
  }

  private var limit: Participant {
    Participant(id: PeerKind.reference, name: "LMDB in C, the bytes", level: .unsynced) { order in
      var tally = Tally()
      let time = try raw.time(on: settings.clock) { tally = try $0.read(order) }
      guard tally == data.expected(order) else { throw Failure("LMDB in C read other bytes") }
      return time
    }
  }

  private func timed(_ peer: any TypedPeer, _ order: Order) throws -> Double {
    var sum = 0
    let time = try settings.clock.time { sum = try peer.read(order, keys) }
    guard sum == order.reduce(0, { $0 + Part($1).category }) else {
      throw Failure("\(peer) read other values")
    }
    return time
  }

  private func measure(_ workload: String, _ participants: [Participant], count: Int? = nil) throws
  {
    guard settings.wants(workload) else { return }
    var counts = [Int](repeating: count ?? 0, count: participants.count)
    let outcomes = try Rounds.run(
      of: participants.count, rounds: settings.rounds, seed: workload
    ) { index, round in
      if counts[index] == 0 {
        let probe = try participants[index].read(order[..<1000])
        counts[index] = min(Orders.length, max(1000, Int(settings.roundTime * 1000 / probe)))
      }
      let piece = Orders.piece(of: order, round: round, count: counts[index])
      return [try participants[index].read(piece) / Double(piece.count)]
    }
    let reference = participants.firstIndex { $0.id == PeerKind.reference }
    report.add(
      zip(participants, outcomes).map { participant, outcome in
        Line(
          Scenario(entries: data.count, valueSize: data.valueSize), workload,
          peer: participant.id, name: participant.name, level: participant.level,
          unit: .nanoseconds, outcome: outcome, reference: reference.map { outcomes[$0] })
      })
  }
}
