import Larder
import LarderSystem
import ShellLanguage

/// The words of a command in quotes, which mean exactly themselves: the shell of the system takes quotes away, this one heeds
/// them.
struct QuotedWords {
  private static let searchTime = Duration.milliseconds(50)

  private let words: [Word]
  private let store: Store

  /// The words of the program's arguments have no quotes left.
  init(of line: CommandLine?, in store: Store) {
    self.store = store
    guard let line, line.source != .command else {
      words = []
      return
    }
    words = line.arguments.dropFirst().compactMap { argument in
      if case .word(let word) = argument, !word.isBare { word } else { nil }
    }
  }

  /// The error for `'@name'` or `'@*'`, where the command lacks a namespace; nil without such a word.
  func namespaceError() throws -> ShellError? {
    guard try store.namespaces().count > 1, let word = try words.first(where: isNamespace)
    else { return nil }
    return ShellError(
      .usage, "\(word.bytes) in quotes is a key, not a namespace", at: word.range,
      hint: "write `\(Self.unquoted(word))` without quotes here")
  }

  /// `@*`, or the word for the namespace: a part of a name may still need its quotes.
  private static func unquoted(_ word: Word) -> String {
    let name = String(decoding: word.bytes.dropFirst(), as: UTF8.self)
    return name == "*" ? "@*" : Quoting.namespace(name)
  }

  private func isNamespace(_ word: Word) throws -> Bool {
    guard word.bytes.first == UInt8(ascii: "@"),
      let name = String(validating: word.bytes.dropFirst(), as: UTF8.self)
    else { return false }
    return try name == "*" || store.namespaces().contains { $0.name.isExactly(name) }
  }

  /// Why nothing was found: a quoted word is a key that does not exist, and would select entries without quotes.
  func notes(
    on namespaces: [Store.Namespace], ignoringCase: Bool
  ) throws -> [SafeText] {
    try words.compactMap { word in
      if try isNamespace(word) {
        return
          "note: \(word.bytes) in quotes is a key; write `\(Self.unquoted(word))` without quotes here"
      }
      return try matches(Word(word.bytes, isBare: true, at: 0..<0), namespaces, ignoringCase)
        ? "note: \(word.bytes) in quotes is a key; without quotes it is a pattern" : nil
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
