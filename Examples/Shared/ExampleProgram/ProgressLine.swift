/// A line at the terminal with the share, the rate, the time left and a bar. A narrow terminal cuts the bar.
public final class ProgressLine {
  private let start = ContinuousClock.now
  private var shown: ContinuousClock.Instant?

  private static let width = 30

  public init() {}

  /// Nil if standard error is no terminal.
  public static var atTerminal: ProgressLine? { Console.isTerminal ? ProgressLine() : nil }

  /// Redraws the line, at most ten times a second.
  ///
  /// - Parameters:
  ///   - count: the number that the rate is computed from.
  ///   - passed: the part of `all` that is done; `all` is nil if it is not known.
  public func advance(_ label: String, count: Int, passed: Int, of all: Int?) {
    let now = ContinuousClock.now
    if let shown, now - shown < .milliseconds(100) { return }
    shown = now
    let rate = Double(count) / max((now - start) / .seconds(1), 0.001)
    let line = Self.line(label, count: count, rate, passed: passed, of: all)
    // Without line wrap: a second row of the terminal could not be erased.
    Console.write("\u{1B}[?7l\r\u{1B}[K" + line + "\u{1B}[?7h")
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
    let percent = "\(Int(share * 100)) %".flushRight(to: 5)
    return "\(name)  \(percent)  \(speed)  \(minutes) left  [\(bar)]"
  }
}
