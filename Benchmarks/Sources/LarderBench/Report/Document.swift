import Foundation

/// A run as JSON.
struct Document: Codable {
  struct Peer: Codable {
    var id: String
    var name: String
    var usage: String
    /// For each durability level, the failures that a write survives.
    var promise: [String: String]
  }

  struct Effort: Codable {
    var rounds: Int
    var longRounds: Int
    var roundMilliseconds: Double
    var clock: RunClock
  }

  var machine: Machine
  var effort: Effort
  var peers: [Peer]
  var rows: [Line]

  init(_ report: Report) throws {
    machine = try Machine.here()
    effort = Effort(
      rounds: report.settings.rounds, longRounds: report.settings.longRounds,
      roundMilliseconds: report.settings.roundTime / 1e6,
      clock: report.settings.clock)
    peers = report.kinds.map { kind in
      Peer(
        id: kind.id, name: kind.name, usage: kind.usage,
        promise: Dictionary(
          uniqueKeysWithValues: kind.promise.map { ($0.key.rawValue, $0.value) }))
    }
    rows = report.rows
  }

  func write(to path: String) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    try encoder.encode(self).write(to: URL(fileURLWithPath: path))
  }
}
