import Larder
import ShellLanguage

/// Writes the answers of commands to the host, or to the file or program to which a command redirects its output.
final class AnswerWriter {
  private enum Separator {
    case none
    case ended
    /// The last answer was a value without a newline, so the next answer begins with a newline.
    case newline
  }

  var settings: Settings
  /// The output mode that the running command names. If nil, the mode of the settings is used.
  var form: OutputMode?
  private let host: Host
  private let clock: any LarderClock
  private var separator = Separator.none
  /// Receives the output of the running command instead of the host.
  private var sink: Host.Sink?

  init(to host: Host, settings: Settings, clock: any LarderClock) {
    self.host = host
    self.settings = settings
    self.clock = clock
  }

  var wallClock: WallClock { WallClock(now: clock.now.unix, zone: settings.zone) }

  var presentation: Presentation {
    let isTerminal = settings.isTerminal && sink == nil
    return Presentation(
      form ?? settings.mode, isTerminal: isTerminal,
      endsWithNUL: settings.endsWithNUL, width: host.window()?.columns,
      hasColor: settings.hasColor && isTerminal, hasUnicode: settings.hasUnicode, clock: wallClock)
  }

  var isTable: Bool { presentation.mode == .table }
  var isForPerson: Bool { presentation.mode.isForPerson }

  private static let page = 50

  /// The most rows of a list that a person sees. Nil for all rows, as in a pipe.
  func page(_ limit: Int?) -> Int? {
    guard isTable, limit != .max else { return nil }
    return limit ?? settings.rowLimit
      ?? min(Self.page, max((host.window()?.rows ?? Self.page) - 3, 5))
  }

  /// Writes each row when the row comes. If an error comes before the first row, nothing is written.
  ///
  /// If a NUL ends each row, a reader would take a key with a NUL for two keys. So all keys are checked first, and the rows are
  /// written at the end. But if `areEndless` is true, each row is written when the row comes.
  @discardableResult
  func rows<Result>(
    _ columns: [Column], isLong: Bool = false, areEndless: Bool = false, none: SafeText? = nil,
    _ body: (_ write: ([[Cell]]) throws -> Void) throws -> Result
  ) throws -> Result {
    let presentation = presentation
    var writer = RowWriter(presentation, columns: columns, isLong: isLong)
    var (hasBegun, held) = (false, [UInt8]())
    func write(_ rows: [[Cell]]) throws {
      let isHeld = presentation.endsRowsWithNUL
      if isHeld { try Self.checkKeys(columns, rows) }
      held += (hasBegun ? [] : writer.begin()) + writer.write(rows)
      hasBegun = true
      guard areEndless || !isHeld else { return }
      try self.write(held)
      held = []
    }
    let result = try body { if !$0.isEmpty { try write($0) } }
    if !hasBegun, isTable, let none { try writeLines([none]) }
    try self.write((hasBegun ? held : writer.begin()) + writer.end())
    return result
  }

  static func checkKeys(_ columns: [Column], _ rows: [[Cell]]) throws(ShellError) {
    let indices = columns.indices.filter { columns[$0].isPlainKey }
    let keys = rows.flatMap { row in indices.map { row[$0] } }
    for case .bytes(let key) in keys { try checkKey(key) }
  }

  static func checkKey(_ key: [UInt8]) throws(ShellError) {
    guard key.contains(0) else { return }
    throw ShellError(
      .usage, "the key \(key) has a NUL, which ends a key with -0",
      hint: "list without -0: `--stdin` reads plain lines back, and JSON with `--stdin --json`")
  }

  func answer(_ reply: Reply) throws {
    let presentation = presentation
    if presentation.endsRowsWithNUL,
      case .rows(let columns, let rows) = reply.others[presentation.mode] ?? reply.body
    {
      try Self.checkKeys(columns, rows)
    }
    try write(presentation.bytes(of: reply))
  }

  func answer(_ body: Reply.Body) throws { try answer(Reply(body)) }

  func writeLines(_ lines: [SafeText]) throws { try write(presentation.lines(lines)) }

  /// Writes the answer after a change. The change is made, so a key with a NUL is no error here.
  func acknowledge(_ reply: Reply) throws {
    if !settings.isQuiet { try write(presentation.bytes(of: reply)) }
  }

  func acknowledge(
    _ fields: KeyValuePairs<Column, Cell>, plain: KeyValuePairs<Column, Cell>? = nil,
    sentences: [SafeText]
  ) throws { try acknowledge(Reply(fields, plain: plain, sentences: sentences)) }

  func write(_ bytes: [UInt8]) throws {
    guard !bytes.isEmpty else { return }
    try send(separator == .newline ? [.newline] + bytes : bytes)
    separator = .ended
  }

  private func send(_ bytes: [UInt8]) throws {
    if let sink { try sink.write(bytes) } else { try host.write(bytes) }
  }

  /// Writes a value. No newline follows an only answer; else one comes before the second answer and after each later value.
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

  /// Runs a command whose output goes to a file or a program. The form of the output is the form for a pipe.
  func redirecting(to output: Redirection, _ body: () throws -> Outcome) throws -> Outcome {
    guard let redirect = host.redirect else {
      throw ShellError(.usage, "output cannot be redirected here", hint: nil)
    }
    let sink = try redirect(output)
    let before = (self.sink, separator)
    (self.sink, separator) = (sink, .none)
    defer { (self.sink, separator) = before }
    let outcome: Outcome
    do { outcome = try body() } catch let closed as Host.Sink.Closed where closed.isRedirected {
      outcome = .done
    } catch {
      _ = try sink.finish(false)
      throw error
    }
    if let note = try sink.finish(true) { try host.notify("\(note)") }
    return outcome
  }
}
