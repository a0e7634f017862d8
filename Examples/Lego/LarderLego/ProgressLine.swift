import LegoCache

/// One line at the terminal that says how far an import is, how fast it goes and how long it will take.
final class ProgressLine {
  private let estimates: [EntityKind: Int]
  private let start = ContinuousClock.now
  private var shown: ContinuousClock.Instant?
  private var done: [EntityKind: Int] = [:]

  private static let width = 30

  /// - Parameter estimates: about how many entities of each kind will come; 0 where that is not known.
  init(estimates: [EntityKind: Int]) { self.estimates = estimates }

  /// Redraws the line, at most ten times a second.
  func advance(_ progress: LegoImport.Progress) {
    done[progress.kind] = progress.done
    let now = ContinuousClock.now
    if let shown, now - shown < .milliseconds(100) { return }
    shown = now
    Console.write("\r\u{1B}[K" + line(for: progress.kind, after: now - start))
  }

  func clear() {
    if shown != nil { Console.write("\r\u{1B}[K") }
  }

  private func line(for kind: EntityKind, after time: Duration) -> String {
    let count = done.values.reduce(0, +)
    let rate = Double(count) / max(time / .seconds(1), 0.001)
    let speed = "\(Int(rate).grouped)/s"
    let name = kind.word.padded(to: 10)
    guard let (passed, all) = part(of: kind) else { return "\(name)  \(count.grouped)  \(speed)" }
    let share = Double(passed) / Double(all)
    let bar = String(repeating: "#", count: Int(share * Double(Self.width)))
      .padding(to: Self.width, with: ".")
    let left = Int((Double(all - passed) / max(rate, 1)).rounded(.up))
    let minutes = "\(left / 60):" + (left % 60 < 10 ? "0" : "") + "\(left % 60)"
    return "\(name)  [\(bar)] \(Int(share * 100)) %  \(speed)  \(minutes) left"
  }

  /// How much of all there is has passed. A kind that is behind counts as what was expected of it, which may have been
  /// too much.
  private func part(of kind: EntityKind) -> (passed: Int, all: Int)? {
    let all = estimates.values.reduce(0, +)
    guard all > 0 else { return nil }
    let behind = EntityKind.allCases.prefix { $0 != kind }.reduce(0) { $0 + (estimates[$1] ?? 0) }
    return (behind + min(done[kind] ?? 0, estimates[kind] ?? 0), all)
  }
}
