import ShellLanguage

/// The line with the progress of a long command. The line appears after half a second, and changes at most ten times a second.
final class ProgressLine {
  private static let delay = Duration.milliseconds(500)
  private static let pace = Duration.milliseconds(100)

  private let verb: String?
  private var total: Int?
  private let unit: (Int) -> String
  private let session: Session
  private let start = ContinuousClock.now
  private var next = ContinuousClock.now + ProgressLine.delay
  private var isShown = false
  private(set) var done = 0

  private init(
    _ verb: String?, of total: Int?, unit: @escaping (Int) -> String, for session: Session
  ) {
    self.verb = verb
    self.total = total.map { max($0, 1) }
    self.unit = unit
    self.session = session
  }

  func advance(by amount: Int) throws { try reach(done + amount) }

  /// Sets the finished amount, and also the whole amount if `all` is not nil.
  func reach(_ amount: Int, of all: Int? = nil) throws {
    done = amount
    if let all { total = max(all, 1) }
    guard let verb, let progress = session.host.progress,
      case let now = ContinuousClock.now, now >= next
    else { return }
    next = now + Self.pace
    isShown = true
    try progress(words(verb, at: now))
  }

  private func words(_ verb: String, at now: ContinuousClock.Instant) -> SafeText {
    let rate = Double(done) / max((now - start) / .seconds(1), 0.001)
    let speed = "\(unit(Int(rate)))/s"
    guard let total, done <= total else { return "\(verb) \(unit(done)), \(speed)" }
    let share = Double(done) / Double(total)
    let bar = Bar.text(share, width: 20, hasUnicode: session.settings.hasUnicode)
    let left = rate > 0 ? Int64(Double(total - done) / rate * 1000) : 0
    let end: SafeText = left >= 1000 ? ", \(Wording.span(left)) left" : ""
    return
      "\(verb) \(DisplayWidth.pad(bar, to: 20)) \(Wording.percent(share))  \(unit(done)), \(speed)\(end)"
  }

  /// Runs a long operation with a progress line, or without the line if `verb` is nil. Always removes the line at the end.
  @discardableResult
  static func show<Result>(
    _ verb: String?, of total: Int?, unit: @escaping (Int) -> String = Wording.entries,
    in session: Session, _ body: (ProgressLine) throws -> Result
  ) throws -> Result {
    let line = ProgressLine(verb, of: total, unit: unit, for: session)
    let result = Swift.Result { try body(line) }
    if line.isShown { try session.host.progress?(nil) }
    return try result.get()
  }

  /// Runs a long operation that calls `shouldContinue` after each step. The operation stops if this call returns false.
  static func showSteps<Result>(
    _ verb: String, unit: @escaping (Int) -> String = Wording.records, in session: Session,
    _ body: (_ shouldContinue: @escaping (_ done: Int, _ all: Int?) -> Bool) throws -> Result
  ) throws -> Result {
    try show(verb, of: nil, unit: unit, in: session) { line in
      // The operation cannot throw an error of the terminal, so such an error is kept and thrown at the end.
      var failure: (any Error)?
      let result = try body { done, all in
        do { try line.reach(done, of: all) } catch { failure = error }
        return failure == nil && !session.host.isInterrupted()
      }
      if let failure { throw failure }
      return result
    }
  }
}
