import LarderShell
import ShellLanguage

/// Recognises lines of the prompt whose text should not be written to the history file.
enum SecretCommand {
  /// Parts of names, without the characters that separate words.
  private static let parts = [
    "secret", "token", "password", "passwd", "passphrase", "passcode", "pwd", "credential", "auth",
    "bearer", "access", "cookie", "session", "apikey", "private", "signature",
  ]
  /// Words too short to be looked for within others.
  private static let words: Set<String> = ["jwt", "otp", "totp", "pin", "pat"]

  /// Whether a line has a word that looks like the name of a secret, where such a name stands before its value: a `set`, a
  /// command that is mistyped, or the command line of another program.
  static func matches(_ text: [UInt8]) -> Bool {
    var reader = CommandReader(.prompt)
    for line in text.lines {
      do throws(ShellError) {
        switch try reader.read(line) {
        case .commands(let commands): if commands.contains(where: matches) { return true }
        case .program(let program): if names(program) { return true }
        case .blank, .open: continue
        }
      } catch {
        // A line that cannot be read may hold a secret all the same.
        return names(text)
      }
    }
    return false
  }

  private static func matches(_ command: CommandLine) -> Bool {
    if case .program(let program, _) = command.output, names(program) { return true }
    guard let known = known(command) else {
      return command.arguments.contains { names($0, in: command.text) }
    }
    guard known.name == "set" else { return false }
    let value = value(in: command, of: known)
    return command.arguments.indices.dropFirst().contains {
      $0 != value && names(command.arguments[$0], in: command.text)
    }
  }

  private static func known(_ command: CommandLine) -> CommandSpec? {
    guard case .word(let word) = command.arguments.first, let name = word.bareText else {
      return nil
    }
    return CommandTable.standard.command(named: name)
  }

  /// The place of the value, the second word that is not an option's; it is not looked at. A surplus word leaves open which
  /// word is the value.
  private static func value(in command: CommandLine, of set: CommandSpec) -> Int? {
    var words: [Int] = []
    var belongsToOption = false
    for (index, argument) in command.arguments.enumerated().dropFirst() {
      switch argument {
      case .word where belongsToOption: belongsToOption = false
      case .word: words.append(index)
      case .namespace: break
      case .option(let option):
        let takesValue = set.options.contains { $0.name == option.spelling && $0.kind != nil }
        belongsToOption = takesValue && option.value == nil
      }
    }
    return words.count == 2 ? words[1] : nil
  }

  /// Looks at the text of an argument and at the bytes that its escapes, `hex:` or `b64:` stand for.
  private static func names(_ argument: Argument, in text: [UInt8]) -> Bool {
    let word: Word? =
      switch argument {
      case .word(let word): word
      case .option(let option): option.value
      case .namespace: nil
      }
    if let word, names(word.bytes) || names((try? word.data()) ?? []) { return true }
    if case .namespace(.named(let name)) = argument, names(Array(name.text.utf8)) { return true }
    return names(Array(text[argument.range]))
  }

  private static func names(_ bytes: [UInt8]) -> Bool {
    let text = String(decoding: bytes, as: UTF8.self).lowercased()
    let joined = text.filter { !["-", ".", "_", " "].contains($0) }
    if parts.contains(where: joined.contains) { return true }
    return text.split { !$0.isLetter }.contains { words.contains(String($0)) }
  }
}
