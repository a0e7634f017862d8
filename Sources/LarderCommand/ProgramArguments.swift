import ShellLanguage

/// The arguments of the program: its own options, the store, and the words of a command.
///
/// The first word that is no program option is STORE and the next one is COMMAND. Every word from
/// COMMAND on belongs to the command and is not parsed here.
struct ProgramArguments {
  /// The options and the store, for the option parser.
  private(set) var options: [String] = []
  private(set) var store: String?
  private(set) var command: [[UInt8]] = []
  private(set) var variables = Variables()

  private static let longWithValue: Set<String> = [
    "--eval", "--file", "--output", "--namespace", "--arg", "--argjson", "--completions",
  ]
  private static let shortWithValue: Set<Character> = ["e", "f", "o", "n"]

  init(_ words: [[UInt8]]) throws(ShellError) {
    var rest = words[...]
    var optionsEnded = false
    while let word = rest.popFirst() {
      if let store, optionsEnded || word.first != UInt8(ascii: "-") || word.count == 1 {
        _ = store
        command = [word] + rest
        return
      }
      let isStore = optionsEnded || word.first != UInt8(ascii: "-")
      let text = try Self.text(word, at: words.count - rest.count, isStore: isStore)
      if isStore || text == "-" {
        store = text
      } else if text == "--", store == nil {
        optionsEnded = true
      } else {
        try take(option: text, from: &rest, count: words.count)
      }
    }
  }

  private mutating func take(
    option text: String, from rest: inout ArraySlice<[UInt8]>, count: Int
  ) throws(ShellError) {
    let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    let name = String(parts[0])
    if name == "--arg" || name == "--argjson" {
      let isJSON = name == "--argjson"
      if parts.count == 2 {
        try variables.define(Array(parts[1].utf8), isJSON: isJSON)
      } else if let value = rest.popFirst() {
        try variables.define(value, isJSON: isJSON)
      } else {
        throw ShellError(.usage, "\(name) needs a value", hint: "\(name) NAME=VALUE")
      }
      return
    }
    options.append(text)
    let takesValue =
      text.hasPrefix("--")
      ? Self.longWithValue.contains(text)
      : text.dropFirst().firstIndex(where: Self.shortWithValue.contains)
        .map { text.index(after: $0) == text.endIndex } ?? false
    guard takesValue, let value = rest.popFirst() else { return }
    options.append(try Self.text(value, at: count - rest.count))
  }

  private static func text(
    _ word: [UInt8], at position: Int, isStore: Bool = false
  ) throws(ShellError) -> String {
    if let text = String(validating: word, as: UTF8.self) { return text }
    throw ShellError(
      .usage, "argument \(position) is not UTF-8",
      hint: isStore
        ? "rename the directory so that its whole path is valid UTF-8"
        : "pass such a key behind the command: larder STORE get @ns -- KEY")
  }
}
