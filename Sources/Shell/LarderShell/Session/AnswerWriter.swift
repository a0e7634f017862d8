import Larder
import ShellLanguage

/// Writes the answers of commands in the form that the settings ask for, to the host or where the running command redirects
/// them.
final class AnswerWriter {
  /// The separator between the last answer and the next.
  private enum Separator {
    case none
    /// The last answer ended its line.
    case ended
    /// The last answer was a bare value: the next one begins with a newline.
    case newline
  }

  var settings: Settings
  /// The running command ends with `\G`.
  var isVertical = false
  private let host: Host
  private let clock: any LarderClock
  private var separator = Separator.none
  /// Receives the output of the running command in place of the host.
  private var sink: Host.Sink?

  init(to host: Host, settings: Settings, clock: any LarderClock) {
    self.host = host
    self.settings = settings
    self.clock = clock
  }

  var wallClock: WallClock { WallClock(now: clock.now.unix, zone: settings.zone) }

  /// The present form of answers.
  var presentation: Presentation {
    let isTerminal = settings.isTerminal && sink == nil
    return Presentation(
      isVertical ? .vertical : settings.mode, isTerminal: isTerminal,
      endsWithNUL: settings.endsWithNUL, width: host.window()?.columns,
      hasColor: settings.hasColor && isTerminal, hasUnicode: settings.hasUnicode,
      clock: wallClock)
  }

  /// A person reads the answers as tables.
  var isTable: Bool { presentation.mode == .table }

  /// The rows that a person sees at once without a limit.
  private static let page = 50

  /// The rows to list: the limit, else a page for a person and everything for a pipe.
  func rows(_ limit: Limit?) -> Int? {
    switch limit {
    case .count(let count): count
    case .unbounded: nil
    case nil where isTable:
      settings.rowLimit ?? min(Self.page, max((host.window()?.rows ?? Self.page) - 3, 5))
    case nil: nil
    }
  }

  func answer(_ reply: Reply) throws { try write(presentation.bytes(of: reply)) }

  func writeLines(_ lines: [SafeText]) throws { try write(presentation.lines(lines)) }

  /// Acknowledges a change, unless `--quiet` is set.
  func acknowledge(_ reply: Reply) throws {
    if !settings.isQuiet { try answer(reply) }
  }

  func write(_ bytes: [UInt8]) throws {
    guard !bytes.isEmpty else { return }
    try send(separator == .newline ? [.newline] + bytes : bytes)
    separator = .ended
  }

  /// All output goes through here.
  private func send(_ bytes: [UInt8]) throws {
    if let sink { try sink.write(bytes) } else { try host.write(bytes) }
  }

  /// Writes a value with nothing added, as long as it is all that is printed; in a pipe of several
  /// answers each one ends with a newline.
  func writeValue(_ pieces: (_ write: ([UInt8]) throws -> Void) throws -> Void) throws {
    guard separator == .none else {
      try pieces(write)
      return try write([.newline])
    }
    try pieces { bytes in
      try send(bytes)
      separator = .newline
    }
    separator = .newline
  }

  /// Runs a command whose output goes to a file or a program, in the form it has in a pipe.
  func redirecting(to output: Redirection, _ body: () throws -> Outcome) throws -> Outcome {
    guard let redirect = host.redirect else {
      throw ShellError(.usage, "output cannot be redirected here", hint: nil)
    }
    let name: SafeText =
      if case .file(let word, _) = output { SafeText(quoting: word.bytes) } else { "the program" }
    func explaining<Result>(_ body: () throws -> Result) throws -> Result {
      do { return try body() } catch let problem as FileProblem {
        throw problem.writeError("cannot write \(name)")
      }
    }
    let sink = try explaining { try redirect(output) }
    let before = (self.sink, separator)
    (self.sink, separator) = (sink, .none)
    defer { (self.sink, separator) = before }
    do {
      let outcome = try explaining(body)
      try explaining { if let note = try sink.finish(true) { try host.notify("\(note)") } }
      return outcome
    } catch is Host.Sink.Closed {
      if let note = try sink.finish(true) { try host.notify("\(note)") }
      return .done
    } catch {
      _ = try sink.finish(false)
      throw error
    }
  }
}
