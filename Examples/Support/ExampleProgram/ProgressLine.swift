import Synchronization

/// A line at the terminal with a count, the share and a bar. A narrow terminal cuts the bar.
public final class ProgressLine: Sendable {
  /// When it was drawn last; nil if it never was.
  private let shown = Mutex<ContinuousClock.Instant?>(nil)

  public init() {}

  /// Nil if standard error is no terminal.
  public static var atTerminal: ProgressLine? { Console.isTerminal ? ProgressLine() : nil }

  /// Redraws the line, at most ten times a second.
  ///
  /// - Parameter all: nil if it is not known.
  public func advance(_ label: String, done: Int, of all: Int?) {
    shown.withLock { shown in
      let now = ContinuousClock.now
      if let shown, now - shown < .milliseconds(100) { return }
      shown = now
      var line = label.padded(to: 10) + "  " + done.grouped
      if let all, all > 0 {
        let share = min(done, all) * 30 / all
        let bar = String(repeating: "#", count: share).padding(to: 30, with: ".")
        line += " of \(all.grouped)  [\(bar)]"
      }
      // Without line wrap: a second row of the terminal could not be erased.
      Console.write("\u{1B}[?7l\r\u{1B}[K" + line + "\u{1B}[?7h")
    }
  }

  public func clear() { if shown.withLock({ $0 }) != nil { Console.write("\r\u{1B}[K") } }
}
