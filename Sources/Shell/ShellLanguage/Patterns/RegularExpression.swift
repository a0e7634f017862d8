/// A regular expression without lookaround and backreferences, because these would need unbounded time.
package struct RegularExpression: Sendable, Hashable {
  package let source: String
  package let ignoresCase: Bool
  private let program: PatternProgram
  private let literal: [UInt8]?

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
    do throws(ShellError) {
      var parser = RegularExpressionParser(source, ignoresCase: ignoresCase)
      let node = try parser.parse()
      guard let program = try? PatternProgram(node) else {
        throw parser.failure("it is too long, or repeats too much", from: 0)
      }
      self.program = program
      literal = node.literal
    } catch {
      throw ShellError(
        .badPattern, "invalid regular expression: \(error.message)",
        at: error.range.map { word.place(of: Self.bytes($0, of: source)) },
        hint: source.contains("\\") && word.isBare
          ? "single quotes keep its backslashes: '\(source)'" : nil)
    }
  }

  private static func bytes(_ range: Range<Int>, of source: String) -> Range<Int> {
    func width(_ count: Int) -> Int {
      source.unicodeScalars.prefix(count).reduce(0) { $0 + UTF8.width($1) }
    }
    return width(range.lowerBound)..<width(range.upperBound)
  }

  /// A matcher for one thread. `pause` runs every few milliseconds; an error that `pause` throws ends the search.
  package func matcher(_ pause: @escaping () throws -> Void) -> PatternMatcher {
    PatternMatcher(program, literal: literal, pause)
  }

  package static func == (left: Self, right: Self) -> Bool {
    left.source == right.source && left.ignoresCase == right.ignoresCase
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(source)
    hasher.combine(ignoresCase)
  }
}
