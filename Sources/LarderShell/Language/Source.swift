/// Where the text of a command comes from.
package enum Source: Sendable, Hashable {
  case prompt
  case file(String)
  /// One `--eval`, counted from 1.
  case eval(Int)
  case input

  /// The name errors carry, absent at the prompt where the line is in sight.
  package var name: String? {
    switch self {
    case .prompt: nil
    case .file(let path): path
    case .eval(let number): "--eval \(number)"
    case .input: "stdin"
    }
  }
}

/// A stretch of characters in a source; lines and columns count from 1.
package struct Place: Sendable, Hashable {
  package let source: Source
  package let line: Int
  package let column: Int
  /// The number of characters, at least 1.
  package let width: Int
  /// The whole line, for drawing a caret under it.
  package let text: [UInt8]
  /// The line is the last one of its command: at a prompt, the one above the cursor.
  package let isLastLine: Bool
}
