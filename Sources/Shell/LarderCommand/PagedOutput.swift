import LarderShell
import LarderTerminal
import ShellLanguage

/// Standard output. A pager shows the output of a typed command that is longer than the screen. Before a command asks a person
/// or waits for a change, the gathered output is shown. Commands write between reads, so no snapshot waits for a person.
final class PagedOutput {
  private enum State {
    case straight
    /// The gathered output, which is not longer than the screen.
    case gathering([UInt8])
    case paging(ChildProgram)
    /// The person left the pager, so the rest of the output is dropped.
    case left
  }

  private var state = State.straight
  /// Whether the reader of standard output has ended. Later commands still run, and their output is dropped.
  private var isClosed = false
  /// Whether a note has already written a newline after the ^C that the terminal shows.
  private(set) var hasLeftInterrupt = false
  /// Whether the command waited for a person or for a time. If so, the prompt shows the duration only with `--timing`.
  private(set) var hasWaited = false
  private let command: String?
  /// The notes that come while the pager has the screen.
  private var waiting: [SafeText] = []

  init(environment: [String: String]) { command = Pager.command(environment: environment) }

  func begin(isPaged: Bool) {
    state = isPaged && command != nil ? .gathering([]) : .straight
    hasLeftInterrupt = false
    hasWaited = false
  }

  /// Shows the gathered output, because the command will now wait for a person or for a time.
  func wait() throws {
    hasWaited = true
    // Without a reader, a command such as `watch` would wait for ever.
    if isClosed { throw Host.Sink.Closed() }
    try release()
  }

  /// Leaves the terminal to a question. Waits until the person leaves a pager, which would read the answer.
  func leaveTerminal() throws {
    try wait()
    if isPaging { try end() }
  }

  /// Writes a note to standard error, after the output so far. Nobody needs the note if the reader of standard error has ended.
  func tell(_ text: SafeText) throws {
    if isPaging { return waiting.append(text) }
    try release()
    do throws(TerminalError) { try Terminal.writeWrapped("\(text)\n", to: .error) } catch .closed {}
    hasLeftInterrupt = Interrupts.isPending
  }

  func write(_ bytes: [UInt8]) throws {
    switch state {
    case .straight:
      if isClosed { return }
      do throws(TerminalError) { try Terminal.write(bytes.span) } catch .closed {
        isClosed = true
        throw Host.Sink.Closed()
      }
    case .gathering(let gathered):
      let all = gathered + bytes
      state = .gathering(all)
      if let command, let size = Terminal.size(), Self.rows(all, columns: size.columns) > size.rows
      {
        let pager = ChildProgram(Array(command.utf8))
        do { try pager.open() } catch { return try release() }
        hasWaited = true
        state = .paging(pager)
        try pass(all, to: pager)
      }
    case .paging(let pager):
      try pass(bytes, to: pager)
    case .left:
      throw Host.Sink.Closed()
    }
  }

  /// Writes the gathered output. After this call, output is written immediately.
  func release() throws {
    guard case .gathering(let gathered) = state else { return }
    state = .straight
    try Terminal.write(gathered.span)
  }

  func end() throws {
    try release()
    if case .paging(let pager) = state { _ = pager.finish() }
    state = .straight
    for text in waiting { try tell(text) }
    waiting = []
  }

  var isPaging: Bool { if case .paging = state { true } else { false } }

  /// Whether the person left the pager. If so, the caller ignores the error about the output that was not written.
  var wasLeft: Bool { if case .left = state { true } else { false } }

  private func pass(_ bytes: [UInt8], to pager: ChildProgram) throws {
    do throws(TerminalError) { try pager.write(bytes.span) } catch .closed {
      _ = pager.finish()
      state = .left
      throw Host.Sink.Closed()
    }
  }

  /// Counts the last line, too. The line may be empty or not yet complete: in JSON, all rows of a list are one line.
  private static func rows(_ text: [UInt8], columns: Int) -> Int {
    text.lines.reduce(0) { rows, line in
      // A byte needs at most one column, so the width of a line with few bytes need not be measured.
      let width = line.count <= columns ? 1 : DisplayWidth.of(String(decoding: line, as: UTF8.self))
      return rows + max((width + columns - 1) / columns, 1)
    }
  }
}

extension Duration {
  /// The duration with its unit, such as `1.24 s` or `3.1 ms`.
  var words: String {
    let milliseconds = self / .milliseconds(1)
    return milliseconds >= 1000
      ? "\((milliseconds / 10).rounded() / 100) s" : "\((milliseconds * 10).rounded() / 10) ms"
  }
}
