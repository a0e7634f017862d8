/// A regular expression without lookaround and backreferences, because these would need unbounded time.
package struct RegularExpression: Sendable, Hashable {
  package let source: String
  package let ignoresCase: Bool
  private let program: PatternProgram

  package init(_ word: Word, ignoresCase: Bool = false) throws(ShellError) {
    guard !word.bytes.isEmpty else {
      throw ShellError(
        .badPattern, "the regular expression is empty", at: word.range,
        hint: "leave it out to select every key, or use `.` for any character")
    }
    guard let source = String(validating: word.bytes, as: UTF8.self) else {
      throw ShellError(
        .badPattern, "\(word.bytes) is not a regular expression", at: word.range,
        hint: "select keys that are not UTF-8 by their hex: form")
    }
    self.source = source
    self.ignoresCase = ignoresCase
    var parser = RegularExpressionParser(source, of: word, ignoresCase: ignoresCase)
    let node = try parser.parse()
    guard let program = try? PatternProgram(node) else {
      throw parser.failure("it is too long, or repeats too much", from: 0)
    }
    self.program = program
  }

  /// A matcher for one thread. `pause` runs every few milliseconds; an error that `pause` throws ends the search.
  package func matcher(_ pause: @escaping () throws -> Void) -> PatternMatcher {
    PatternMatcher(program, pause)
  }

  package static func == (left: Self, right: Self) -> Bool {
    left.source == right.source && left.ignoresCase == right.ignoresCase
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(source)
    hasher.combine(ignoresCase)
  }
}
