import LarderSystem

/// A word of a line, classified by its first unquoted bytes.
package enum Argument: Sendable, Hashable {
  case word(Word)
  case option(OptionWord)
  /// `@name`
  case namespace(NamespaceName)
  /// `@*`
  case allNamespaces(Range<Int>)

  package var range: Range<Int> {
    switch self {
    case .word(let word): word.range
    case .option(let option): option.range
    case .namespace(let name): name.range
    case .allNamespaces(let range): range
    }
  }

  package init(_ word: Word) throws(ShellError) {
    if let option = OptionWord(word) {
      self = .option(option)
    } else if !word.leads(with: "@") {
      self = .word(word)
    } else if word.bareText == "@*" {
      self = .allNamespaces(word.range)
    } else {
      var name = word.dropping(1)
      guard !name.isGlob else {
        throw word.misuse(
          "expected a namespace, not a pattern",
          "@* is all of them; quote a name that contains such a character: @'a*'",
          forArguments: "@* is all of them; `-n NAME` before the command names such a namespace")
      }
      name.range = word.range
      self = .namespace(try NamespaceName(name))
    }
  }
}

/// `--name`, `--name=word` or `-x`.
package struct OptionWord: Sendable, Hashable {
  /// The name with its dashes.
  package let spelling: String
  /// The word after `=`. Without `=`, the command table decides whether the next word is the value.
  package let value: Word?
  package let range: Range<Int>

  /// Reads an option; nil if the word is not an option. A name with quoted parts is plain text, not an option.
  package init?(_ word: Word) {
    let bytes = word.bytes
    var end = bytes.count
    if word.leads(with: "--") {
      end = bytes[..<word.bareCount].firstIndex(of: UInt8(ascii: "=")) ?? end
    } else {
      // `-` alone is the name of a file and `-5` is a number, so only `-0` and letters make an option.
      guard word.leads(with: "-"), end > 1, bytes[1].isLetter || bytes.elementsEqual("-0".utf8)
      else { return nil }
    }
    guard end < bytes.count || word.isBare,
      let spelling = String(validating: bytes[..<end], as: UTF8.self)
    else { return nil }
    self.spelling = spelling
    value = end < bytes.count ? word.dropping(end + 1) : nil
    range = word.range
  }
}

/// A valid name of a namespace: UTF-8 of 1 to 100 bytes without white space and `@`.
package struct NamespaceName: Sendable, Hashable {
  package let text: String
  package let range: Range<Int>

  package init(_ text: String) throws(ShellError) {
    try self.init(Word(bytes: Array(text.utf8), pieces: [], range: 0..<0))
  }

  package init(_ word: Word) throws(ShellError) {
    func wrong(_ what: SafeText) -> ShellError {
      word.misuse(
        "invalid namespace name \(word.bytes): \(what)",
        "a name has 1 to 100 bytes, no space and no @")
    }
    guard !word.bytes.isEmpty else { throw wrong("it is empty") }
    guard word.bytes.count <= 100 else { throw wrong("it is longer than 100 bytes") }
    guard let text = String(validating: word.bytes, as: UTF8.self) else {
      throw wrong("it is not UTF-8")
    }
    guard !text.unicodeScalars.contains(where: { $0.properties.isWhitespace || $0 == "@" }) else {
      throw wrong("it contains a space or @")
    }
    self.text = text
    range = word.range
  }
}
