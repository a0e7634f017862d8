import LarderShell
import LarderTerminal
import ShellLanguage

/// Standard output, which for a person's command goes through a pager as soon as it is longer than the
/// screen.
///
/// What is printed while a command waits for something, such as an answer or the next look, is shown
/// at once. A command writes between its looks at the store, so that nothing of it is held while the
/// person reads.
final class PagedOutput {
  private enum State {
    case straight
    /// Up to a screenful, which may be all there is.
    case gathering([UInt8])
    case paging(Pager)
    /// The person has left the pager: the rest of the answer is not wanted.
    case left
  }

  private var state = State.straight
  /// Something was said on a line of its own after ^C, which stands where the cursor was.
  private(set) var hasLeftInterrupt = false
  private let command: String?

  init(environment: [String: String]) {
    command = Terminal.isTerminal(.output) ? Pager.command(environment: environment) : nil
  }

  /// A command of a person begins.
  func begin(isPaged: Bool) {
    state = isPaged && command != nil ? .gathering([]) : .straight
    hasLeftInterrupt = false
  }

  /// Says what is no part of the answer, below what there is of it.
  func tell(_ text: SafeText) throws {
    try release()
    try Terminal.write("\(text)\n", to: .error)
    hasLeftInterrupt = Interrupts.isPending
  }

  func write(_ bytes: [UInt8]) throws {
    switch state {
    case .straight:
      try Terminal.write(bytes.span)
    case .gathering(let gathered):
      let all = gathered + bytes
      state = .gathering(all)
      if let command, let size = Terminal.size(), Self.rows(all, columns: size.columns) >= size.rows
      {
        let pager = try Pager(command)
        state = .paging(pager)
        try pass(all, to: pager)
      }
    case .paging(let pager):
      try pass(bytes, to: pager)
    case .left:
      throw TerminalError.closed
    }
  }

  /// Shows what was gathered; what follows is shown at once.
  func release() throws {
    guard case .gathering(let gathered) = state else { return }
    state = .straight
    try Terminal.write(gathered.span)
  }

  /// The command is done.
  func end() throws {
    try release()
    if case .paging(let pager) = state { pager.finish() }
    state = .straight
  }

  /// The person did not want to see the rest: an error that says so is none.
  var wasLeft: Bool {
    if case .left = state { true } else { false }
  }

  private func pass(_ bytes: [UInt8], to pager: Pager) throws {
    do throws(TerminalError) {
      try pager.write(bytes.span)
    } catch {
      pager.finish()
      if error == .closed { state = .left }
      throw error
    }
  }

  /// How many rows of the screen the text takes.
  private static func rows(_ text: [UInt8], columns: Int) -> Int {
    text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).dropLast()
      .reduce(0) { rows, line in
        // A byte takes no more than a column, so that a short line need not be measured.
        let width =
          line.count <= columns ? 1 : DisplayWidth.of(String(decoding: line, as: UTF8.self))
        return rows + max((width + columns - 1) / columns, 1)
      }
  }
}
