import Foundation

/// Collects the measurements, and prints each measurement when it is finished.
final class Report {
  let settings: Settings
  let kinds: [PeerKind]
  private(set) var rows: [Line] = []
  private let start = ContinuousClock.now

  init(settings: Settings, kinds: [PeerKind]) {
    self.settings = settings
    self.kinds = kinds
  }

  func add(_ rows: [Line]) {
    self.rows += rows
    say(Table.text(rows))
  }

  /// Adds a line for a peer that does not take part, but at most one line for each scenario.
  func leaveOut(_ kind: PeerKind, level: Level, in scenario: Scenario, reason: String) {
    var row = Line(
      scenario: scenario, workload: "everything", peer: kind.id, name: kind.name, level: level,
      unit: .nanoseconds)
    row.reason = reason
    let isSaid = rows.contains {
      $0.peer == row.peer && $0.scenario == scenario && $0.workload == row.workload
    }
    if !isSaid { add([row]) }
  }

  func note(_ text: String) {
    let seconds = (ContinuousClock.now - start).components.seconds
    FileHandle.standardError.write(Data("[\(seconds) s] \(text)\n".utf8))
  }
}

/// Prints a line immediately, without a buffer, even into a pipe.
func say(_ text: String) { FileHandle.standardOutput.write(Data((text + "\n").utf8)) }
