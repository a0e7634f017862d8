/// One line at the terminal that says how far something is, how fast it goes and how long it will take.
public final class ProgressLine {
  private let start = ContinuousClock.now
  private var shown: ContinuousClock.Instant?

  private static let width = 30

  public init() {}

  /// A line where somebody watches, and nil where nobody does.
  public static var ifWatched: ProgressLine? { Console.isWatched ? ProgressLine() : nil }

  /// Redraws the line, at most ten times a second.
  ///
  /// - Parameters:
  ///   - count: what the rate is counted from.
  ///   - passed: how much of `all` has passed; `all` is nil where nobody knows.
  public func advance(_ label: String, count: Int, passed: Int, of all: Int?) {
    let now = ContinuousClock.now
    if let shown, now - shown < .milliseconds(100) { return }
    shown = now
    let rate = Double(count) / max((now - start) / .seconds(1), 0.001)
    Console.write("\r\u{1B}[K" + Self.line(label, count: count, rate, passed: passed, of: all))
  }

  public func advance(_ label: String, done: Int, of all: Int?) {
    advance(label, count: done, passed: done, of: all)
  }

  public func clear() {
    if shown != nil { Console.write("\r\u{1B}[K") }
  }

  private static func line(
    _ label: String, count: Int, _ rate: Double, passed: Int, of all: Int?
  ) -> String {
    let name = label.padded(to: 10)
    let speed =
      rate < 10 ? "\(Int(rate * 10) / 10).\(Int(rate * 10) % 10)/s" : "\(Int(rate).grouped)/s"
    guard let all, all > 0 else { return "\(name)  \(count.grouped)  \(speed)" }
    let share = Double(min(passed, all)) / Double(all)
    let bar = String(repeating: "#", count: Int(share * Double(width)))
      .padding(to: width, with: ".")
    let left = Int((Double(max(all - passed, 0)) / max(rate, 0.1)).rounded(.up))
    let minutes = "\(left / 60):" + (left % 60 < 10 ? "0" : "") + "\(left % 60)"
    return "\(name)  [\(bar)] \(Int(share * 100)) %  \(speed)  \(minutes) left"
  }
}
