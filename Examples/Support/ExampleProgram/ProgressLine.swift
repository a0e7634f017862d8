import Synchronization

/// A line at the terminal with the share, the rate, the time left and a bar. A narrow terminal cuts the bar.
public final class ProgressLine: Sendable {
  private let start = ContinuousClock.now
  /// When it was drawn last; nil if it never was.
  private let shown = Mutex<ContinuousClock.Instant?>(nil)

  private static let width = 30

  public init() {}

  /// Nil if standard error is no terminal.
  public static var atTerminal: ProgressLine? { Console.isTerminal ? ProgressLine() : nil }

  /// Redraws the line, at most ten times a second.
  ///
  /// - Parameter all: nil if it is not known.
  public func advance(_ label: String, done: Int, of all: Int?) {
    let now = ContinuousClock.now
    let rate = Double(done) / max((now - start) / .seconds(1), 0.001)
    let line = Self.line(label, done: done, of: all, rate)
    shown.withLock { shown in
      if let shown, now - shown < .milliseconds(100) { return }
      shown = now
      // Without line wrap: a second row of the terminal could not be erased.
      Console.write("\u{1B}[?7l\r\u{1B}[K" + line + "\u{1B}[?7h")
    }
  }

  public func clear() { if shown.withLock({ $0 }) != nil { Console.write("\r\u{1B}[K") } }

  private static func line(_ label: String, done: Int, of all: Int?, _ rate: Double) -> String {
    let name = label.padded(to: 10)
    let speed =
      rate < 10 ? "\(Int(rate * 10) / 10).\(Int(rate * 10) % 10)/s" : "\(Int(rate).grouped)/s"
    guard let all, all > 0 else { return "\(name)  \(done.grouped)  \(speed)" }
    let share = Double(min(done, all)) / Double(all)
    let bar = String(repeating: "#", count: Int(share * Double(width)))
      .padding(to: width, with: ".")
    let left = Int((Double(max(all - done, 0)) / max(rate, 0.1)).rounded(.up))
    let minutes = "\(left / 60):" + (left % 60 < 10 ? "0" : "") + "\(left % 60)"
    let percent = "\(Int(share * 100)) %".flushRight(to: 5)
    return "\(name)  \(percent)  \(speed)  \(minutes) left  [\(bar)]"
  }
}
