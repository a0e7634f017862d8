import Larder
import ShellLanguage

/// Quotes that the shell of the system takes away, and that act here: quoted text means exactly itself.
extension Session {
  private static let searchTime = Duration.milliseconds(50)

  /// The quoted words of the command; those of the program's arguments have no quotes left.
  private var quotedWords: [Word] {
    guard let line, line.source != .command else { return [] }
    return line.arguments.dropFirst().compactMap { argument in
      if case .word(let word) = argument, !word.isBare { word } else { nil }
    }
  }

  /// The error for `'@name'` or `'@*'`, where the command lacks a namespace; nil without such a word.
  var quotedNamespace: ShellError? {
    get throws {
      guard try store.namespaces().count > 1, let word = try quotedWords.first(where: isNamespace)
      else { return nil }
      return ShellError(
        .usage, "\(word.bytes) in quotes is a key, not a namespace", at: word.range,
        hint: "write `\(String(decoding: word.bytes, as: UTF8.self))` without quotes here")
    }
  }

  private func isNamespace(_ word: Word) throws -> Bool {
    guard word.bytes.first == UInt8(ascii: "@"),
      let name = String(validating: word.bytes.dropFirst(), as: UTF8.self)
    else { return false }
    return try name == "*" || store.namespaces().contains { $0.name == name }
  }

  /// Notes why nothing was found: a quoted word is a key that does not exist, and would select entries without quotes.
  func noteQuotedWords(in namespaces: [Store.Namespace], ignoringCase: Bool) throws {
    for word in quotedWords {
      let text = SafeText(Quoting.printable(word.bytes))
      if try isNamespace(word) {
        try host.notify(
          "note: \(word.bytes) in quotes is a key; write `\(text)` without quotes here")
      } else if try matches(Word(word.bytes, isBare: true, at: 0..<0), namespaces, ignoringCase) {
        try host.notify("note: \(word.bytes) in quotes is a key; without quotes it is a pattern")
      }
    }
  }

  private func matches(
    _ word: Word, _ namespaces: [Store.Namespace], _ ignoresCase: Bool
  ) throws -> Bool {
    let pattern: Glob
    do throws(ShellError) {
      guard case .glob(let glob) = try Selection.Pattern(word, ignoresCase: ignoresCase) else {
        return false
      }
      pattern = glob
    } catch {
      return false
    }
    let end = ContinuousClock.now + Self.searchTime
    for namespace in namespaces {
      var isFound = false
      try namespace.scanKeys(prefix: pattern.prefix) { key in
        isFound = pattern.matches(key.bytes)
        return !isFound && ContinuousClock.now < end
      }
      if isFound { return true }
    }
    return false
  }
}
