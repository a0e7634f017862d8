/// A regular expression, checked when it is read. It is compiled where it is used, because a compiled
/// one cannot be shared between threads.
package struct KeyRegex: Sendable, Hashable {
  package let source: String
  package let ignoresCase: Bool

  package init(_ word: Word, ignoresCase: Bool = false) throws(ShellError) {
    self.ignoresCase = ignoresCase
    guard let source = String(validating: word.bytes, as: UTF8.self), !source.isEmpty else {
      throw ShellError(
        .badPattern, "\(word.bytes) is not a regular expression", at: word.range,
        hint: "select keys that are not UTF-8 by their hex: form")
    }
    self.source = source
    do {
      _ = try Regex(source)
    } catch {
      throw ShellError(
        .badPattern, "invalid regular expression: \(Self.reason(error))",
        at: Self.range(of: error, source, word),
        hint: source.contains("\\") && word.isBare
          ? "single quotes keep its backslashes: '\(source)'" : nil)
    }
  }

  /// A matcher for one thread. It finds the expression anywhere in the text; bytes that are not UTF-8
  /// never match.
  package func matcher() throws(ShellError) -> (_ key: [UInt8]) -> Bool {
    let regex: Regex<AnyRegexOutput>
    do {
      regex = try Regex(source).matchingSemantics(.unicodeScalar).ignoresCase(ignoresCase)
    } catch {
      throw ShellError(.badPattern, "\(String(describing: error))", hint: nil)
    }
    return { key in
      String(validating: key, as: UTF8.self)?.firstMatch(of: regex) != nil
    }
  }

  /// The compiler's message in the shell's words.
  package static func reason(_ error: any Error) -> String {
    let text = String(describing: error)
    if text.contains("expected ')'") { return "missing \")\"" }
    if text.contains("expected ']'") { return "missing \"]\"" }
    return text
  }

  /// The offset of the last parenthesis that is not closed.
  private static func unmatchedParenthesis(_ source: String) -> Int? {
    var open: [Int] = []
    var isEscaped = false
    for (offset, byte) in source.utf8.enumerated() {
      if isEscaped {
        isEscaped = false
      } else if byte == .backslash {
        isEscaped = true
      } else if byte == UInt8(ascii: "(") {
        open.append(offset)
      } else if byte == UInt8(ascii: ")") {
        _ = open.popLast()
      }
    }
    return open.last
  }

  /// The range of the error in the text of the command. The regular expression compiler knows it but
  /// does not publish it, so it is found by reflection; without it the range is the whole word.
  private static func range(of error: any Error, _ source: String, _ word: Word) -> Range<Int> {
    let isVerbatim = word.range.count == word.bytes.count + (word.isBare ? 0 : 2)
    if String(describing: error).contains("expected ')'"), isVerbatim,
      let offset = unmatchedParenthesis(source)
    {
      let place = word.range.lowerBound + (word.isBare ? 0 : 1) + offset
      return place..<place + 1
    }
    let found = Mirror(reflecting: error).descendant("location", "range") as? Range<String.Index>
    guard let found, word.pieces.count == 1, found.upperBound <= source.endIndex else {
      return word.range
    }
    let lower = source.utf8.distance(from: source.startIndex, to: found.lowerBound)
    let upper = source.utf8.distance(from: source.startIndex, to: found.upperBound)
    // A quoted word without escapes has its bytes unchanged behind the quote.
    guard isVerbatim else { return word.range }
    let start = word.range.lowerBound + (word.isBare ? 0 : 1)
    return start + lower..<start + max(upper, lower + 1)
  }
}
