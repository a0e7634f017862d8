import Foundation
import Larder
import TestSupport

/// Runs many cases in child processes and prints the totals: `damage-trials DIRECTORY SEED COUNT [LEVEL...]`.
///
/// If a child crashes or does not answer in time, its case has failed. A new child then continues with the next case.
struct DamageTrials {
  private let directory: String
  private var crashes: [String] = []
  private var hangs: [String] = []
  private var wrong: [String] = []
  private var cases = 0
  private var refused = 0
  private var lossy = 0
  private var writtenTo = 0
  private var old = 0

  /// The longest time in seconds that one case may take. This time is long enough also for a busy machine.
  static let longestWait: TimeInterval = 120
  /// The number of cases in a batch. A child runs cases of one batch, which damage copies of one store, so a case can be repeated.
  static let batch: UInt64 = 50

  /// Whether the batch of this seed damages the files that a kill leaves. Other batches damage the files of a closed store.
  static func isKilled(_ seed: UInt64) -> Bool { seed / batch % 2 == 1 }

  init(directory: String) { self.directory = directory }

  mutating func run(seed: UInt64, count: Int, levels: [Durability]) throws -> Bool {
    for (index, level) in levels.enumerated() {
      let share = count / levels.count + (index < count % levels.count ? 1 : 0)
      var next = seed &+ UInt64(index) * 1_000_000
      let end = next + UInt64(share)
      while next < end {
        let count = min(Self.batch - next % Self.batch, end - next)
        next = try runChild(from: next, count: Int(count), level: level)
      }
    }
    for line in crashes + hangs + wrong { Peer.say(line) }
    Peer.say(
      "damage: \(cases) cases, \(crashes.count) crashes, \(hangs.count) hangs, \(wrong.count) wrong; "
        + "\(refused) not opened, \(lossy) with lost entries, \(old) with old values after a lost write, \(writtenTo) written to"
    )
    return crashes.isEmpty && hangs.isEmpty && wrong.isEmpty
  }

  /// Runs cases in a child until the child ends. Returns the seed of the next case.
  private mutating func runChild(from first: UInt64, count: Int, level: Durability) throws -> UInt64
  {
    let peer = try PeerProcess(
      "damage-cases", directory, ["\(first)", "\(count)", level.rawValue],
      within: Self.longestWait, errors: .nullDevice)
    var current = first
    var description = ""
    var hasBegun = false
    while let line = peer.line(), !peer.isHanging {
      if line == "end" {
        _ = try peer.end()
        return first + UInt64(count)
      }
      if line.hasPrefix("case ") {
        current = UInt64(line.split(separator: " ")[1])!
        description = line
        hasBegun = true
      } else {
        note(line, description, level)
      }
    }
    let again = "LarderPeer damage-cases \(directory) \(current) 1 \(level.rawValue)"
    let status = try peer.end()
    if peer.isHanging {
      hangs.append("HANG \(level.rawValue) \(description); repeat: \(again)")
    } else {
      crashes.append("CRASH \(status) \(level.rawValue) \(description); repeat: \(again)")
    }
    cases += 1
    return hasBegun ? current + 1 : first + UInt64(count)
  }

  private mutating func note(_ line: String, _ description: String, _ level: Durability) {
    cases += 1
    if line.hasPrefix("WRONG") {
      let seed = description.split(separator: " ")[1]
      wrong.append(
        "\(line) \(level.rawValue) \(description); repeat: LarderPeer damage-cases \(directory) \(seed) 1 \(level.rawValue)"
      )
    }
    if line.contains(" refused") { refused += 1 }
    if !line.contains(" lost 0 ") { lossy += 1 }
    if !line.contains(" old 0 ") { old += 1 }
    if !line.contains(" written 0") { writtenTo += 1 }
  }
}

extension Peer {
  func damageTrials() throws {
    let levels = arguments.dropFirst(2).compactMap { Durability(rawValue: $0) }
    var trials = DamageTrials(directory: store)
    let isClean = try trials.run(
      seed: value(0) { UInt64($0) }, count: argument(1),
      levels: levels.isEmpty ? Durability.allCases : levels)
    if !isClean { exit(1) }
  }
}
