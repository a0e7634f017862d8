/// A regular expression without references to groups and lookaround, which would take matching time
/// without bound.
package struct RegularExpression: Sendable, Hashable {
  package let source: String
  package let ignoresCase: Bool
  private let program: RegexProgram

  private init(_ source: String, ignoresCase: Bool) throws(RegexError) {
    self.source = source
    self.ignoresCase = ignoresCase
    program = try RegexProgram(source, ignoresCase: ignoresCase)
  }

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
    do throws(RegexError) {
      self = try RegularExpression(source, ignoresCase: ignoresCase)
    } catch {
      throw ShellError(
        .badPattern, "invalid regular expression: \(error.message)",
        at: Self.place(of: error.range, source, word),
        hint: source.contains("\\") && word.isBare
          ? "single quotes keep its backslashes: '\(source)'" : nil)
    }
  }

  /// A matcher for one thread.
  ///
  /// - Parameter pause: Is called at least every few milliseconds; what it throws ends the search.
  package func matcher(_ pause: @escaping () throws -> Void) -> RegexMatcher {
    RegexMatcher(program, pause)
  }

  /// The range of the error in the text of the command; the whole word if escapes moved it.
  private static func place(of range: Range<Int>, _ source: String, _ word: Word) -> Range<Int> {
    let quotes = word.isBare ? 0 : 1
    guard word.pieces.count == 1, word.range.count == word.bytes.count + 2 * quotes else {
      return word.range
    }
    let scalars = source.unicodeScalars
    func offset(_ count: Int) -> Int {
      word.range.lowerBound + quotes
        + scalars.prefix(count).reduce(0) { $0 + UTF8.width($1) }
    }
    return offset(range.lowerBound)..<offset(range.upperBound)
  }

  package static func == (left: Self, right: Self) -> Bool {
    left.source == right.source && left.ignoresCase == right.ignoresCase
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(source)
    hasher.combine(ignoresCase)
  }
}
