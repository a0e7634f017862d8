/// One command as text and as arguments. The name of the command has not been looked up, so the command may not exist.
package struct CommandLine: Sendable, Hashable {
  package let source: Source
  /// The number of the line at which the command begins; the first line of the source has the number 1.
  package let firstLine: Int
  /// The lines of the input, joined by newlines. All ranges count the bytes of this text.
  package let text: [UInt8]
  package internal(set) var arguments: [Argument] = []
  /// The file or program that gets the output; nil for the shell's own output.
  package internal(set) var output: Redirection?
  var variables = Variables()

  package var words: [Word] {
    arguments.compactMap { if case .word(let word) = $0 { word } else { nil } }
  }

  /// The text of an argument. Empty for an argument of a command that this program makes, because such a command has no text.
  package func text(at range: Range<Int>) -> ArraySlice<UInt8> {
    text[range.clamped(to: text.indices)]
  }

  /// The place of a range of `text`. The place ends at the end of the line in which the range begins.
  package func place(of range: Range<Int>) -> Place {
    let start = min(range.lowerBound, text.count)
    let lineStart = (text[..<start].lastIndex(of: .newline) ?? -1) + 1
    let lineEnd = text[start...].firstIndex(of: .newline) ?? text.endIndex
    let end = min(max(range.upperBound, start), lineEnd)
    func characters(_ range: Range<Int>) -> Int {
      String(decoding: text[range], as: UTF8.self).count
    }
    return Place(
      source: source,
      line: firstLine + text[..<start].count(where: { $0 == .newline }),
      column: characters(lineStart..<start) + 1,
      width: max(characters(start..<end), 1),
      text: Array(text[lineStart..<lineEnd]),
      isLastLine: lineEnd == text.endIndex)
  }

  /// The form that `-o` names, even if the rest of the command is wrong.
  private var form: OutputMode? {
    let place = arguments.firstIndex {
      if case .option(let option) = $0 { option.spelling == "-o" } else { false }
    }
    guard let place, case .word(let word)? = arguments[(place + 1)...].first else { return nil }
    return OutputMode(rawValue: String(decoding: word.bytes, as: UTF8.self).lowercased())
  }

  /// The error with its place. An error without a range points at the first word of the command.
  package func locate(_ error: ShellError) -> ShellError {
    var located = error
    located.form = error.form ?? form
    guard error.place == nil else { return located }
    if source == .command, let hint = error.hintForArguments { located.hint = hint }
    let first = arguments.first.map { $0.range.lowerBound..<$0.range.lowerBound }
    located.place = place(of: error.range ?? first ?? 0..<0)
    return located
  }
}

package enum Redirection: Sendable, Hashable {
  /// `| TEXT`: a program that `/bin/sh` runs, and the range of the operator.
  case program([UInt8], Range<Int>)
  case file(Word, appends: Bool)
}

package enum Source: Sendable, Hashable {
  case prompt
  case file(String)
  case eval(Int)
  case input
  case command

  /// The name of the source in errors. Nil for the prompt, because a person still sees the line at the prompt.
  package var name: String? {
    switch self {
    case .prompt: nil
    case .file(let path): path
    case .eval(let number): "--eval \(number)"
    case .input: "stdin"
    case .command: "command"
    }
  }

  /// Whether a person may have typed the command and may wait for the answer, so that the command can ask a question.
  package var isTyped: Bool { if case .file = self { false } else { self != .input } }
}

/// A range of characters in a source; lines and columns count from 1.
package struct Place: Sendable, Hashable {
  package let source: Source
  package let line: Int
  package let column: Int
  package let width: Int
  /// The whole line. A message shows the line with a caret below the line.
  package let text: [UInt8]
  /// Whether the line is the last line of its command. At a prompt, this line is directly above the message.
  package let isLastLine: Bool
}
