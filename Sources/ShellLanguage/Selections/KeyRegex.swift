/// A regular expression for keys, checked when it is read and compiled where it is used: a compiled
/// one cannot be shared between threads.
package struct KeyRegex: Sendable, Hashable {
  package let source: String

  package init(_ word: Word) throws(ShellError) {
    guard let source = String(validating: word.bytes, as: UTF8.self), !source.isEmpty else {
      throw ShellError(
        .badPattern, "\(word.bytes) is not a regular expression", at: word.range,
        hint: "keys that are not UTF-8 are found by their hex: form")
    }
    self.source = source
    do {
      _ = try Regex(source)
    } catch {
      throw ShellError(
        .badPattern, "\(word.bytes) is not a regular expression: \(String(describing: error))",
        at: Self.range(of: error, source, word),
        hint: "put it in single quotes, so that the backslashes stay")
    }
  }

  /// A matcher for one thread. It finds the expression anywhere in a key; a key that is not UTF-8
  /// has none.
  package func matcher() throws(ShellError) -> (_ key: [UInt8]) -> Bool {
    let regex: Regex<AnyRegexOutput>
    do {
      regex = try Regex(source).matchingSemantics(.unicodeScalar)
    } catch {
      throw ShellError(.badPattern, "\(String(describing: error))", hint: nil)
    }
    return { key in
      String(validating: key, as: UTF8.self)?.firstMatch(of: regex) != nil
    }
  }

  /// Where in the text of the command the error is. The compiler of expressions knows the place but
  /// does not publish it, so it is looked for, and the whole word is pointed at if it is not there.
  private static func range(of error: any Error, _ source: String, _ word: Word) -> Range<Int> {
    let found = Mirror(reflecting: error).descendant("location", "range") as? Range<String.Index>
    guard let found, word.pieces.count == 1, found.upperBound <= source.endIndex else {
      return word.range
    }
    let lower = source.utf8.distance(from: source.startIndex, to: found.lowerBound)
    let upper = source.utf8.distance(from: source.startIndex, to: found.upperBound)
    // Quoted without escapes, the bytes stand behind the quote as they are.
    let isVerbatim = word.range.count == word.bytes.count + (word.isBare ? 0 : 2)
    guard isVerbatim else { return word.range }
    let start = word.range.lowerBound + (word.isBare ? 0 : 1)
    return start + lower..<start + max(upper, lower + 1)
  }
}
