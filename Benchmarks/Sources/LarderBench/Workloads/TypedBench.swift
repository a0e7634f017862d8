import Foundation
import Larder

/// Hits of decoded values on a thousand hot keys, beside a hit of as many bytes in C.
struct TypedBench {
  private struct Participant {
    var id: String
    var name: String
    var level: Level
    var workload: String
    var peer: any TypedPeer
  }

  let settings: Settings
  let report: Report
  let directory: String

  func run() throws {
    let size = try JSONEncoder().encode(Part(500)).count
    let data = Dataset(count: 1000, valueSize: size)
    let keys = Array(data.keys[..<data.count])
    let scenario = Scenario(entries: data.count, valueSize: size)
    try FileManager.default.createDirectory(
      atPath: directory, withIntermediateDirectories: true)
    let raw = try Contender(
      .lmdb, site: Site(directory: directory + "/lmdb", level: .unsynced, data: data))
    try raw.fill(0..<UInt32(data.count))
    let cached = try LarderCached(directory + "/larder", keys)
    let decoded = "typed hit, decoded"
    let kept = "typed hit, as a user gets it"
    let participants = [
      Participant(
        id: "larder", name: "Larder, bytes and a decoder", level: .durable, workload: decoded,
        peer: LarderDecoded(namespace: cached.cache.namespace)),
      Participant(
        id: "sqlite", name: "SQLite (GRDB) and a decoder", level: .durable, workload: decoded,
        peer: try SQLiteTyped(directory + "/sqlite", keys)),
      Participant(
        id: "larder", name: "Larder, Cache", level: .durable, workload: kept, peer: cached),
      Participant(
        id: "dictionary", name: "Dictionary, locked", level: .memory, workload: kept,
        peer: DictionaryTyped(keys)),
    ]
    let order = Orders.random(data, distinct: data.count)
    var counts = [Int](repeating: 0, count: participants.count + 1)
    let outcomes = try Rounds.run(
      of: participants.count + 1, rounds: settings.rounds, seed: "typed"
    ) { index, round in
      func read(_ count: Int) throws -> Double {
        let piece = Orders.piece(of: order, round: round, count: count)
        if index == participants.count {
          return try raw.time(on: settings.readClock) { session in
            guard try session.read(piece) == data.expected(piece) else {
              throw Failure("LMDB in C read other bytes")
            }
          }
        }
        let expected = piece.reduce(0) { $0 + Part($1).category }
        var sum = 0
        let time = try settings.readClock.time {
          sum = try participants[index].peer.read(piece, keys)
        }
        guard sum == expected else {
          throw Failure("\(participants[index].name) read other values")
        }
        return time
      }
      if counts[index] == 0 {
        counts[index] = min(
          Orders.length, max(1000, Int(settings.roundTime * 1000 / (try read(1000)))))
      }
      let count = counts[index]
      return [try read(count) / Double(count)]
    }
    let limit = Participant(
      id: PeerKind.reference, name: "LMDB in C, the bytes", level: .unsynced, workload: "",
      peer: cached)
    for workload in [decoded, kept] {
      var rows = zip(participants, outcomes).filter { $0.0.workload == workload }
      rows.append((limit, outcomes[participants.count]))
      report.add(
        rows.map { participant, outcome in
          Line(
            scenario, workload, peer: participant.id, name: participant.name,
            level: participant.level, unit: .nanoseconds, outcome: outcome,
            reference: outcomes[participants.count])
        })
    }
    try raw.close()
  }
}
