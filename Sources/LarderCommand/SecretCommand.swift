import LarderShell
import ShellLanguage

/// Recognises commands whose text should not be written to the history file.
enum SecretCommand {
  private static let words = [
    "secret", "token", "password", "passwd", "credential", "auth", "cookie", "session", "apikey",
    "api_key", "private",
  ]

  /// A `set` whose key, namespace or `:name` looks like that of a secret.
  static func matches(_ text: [UInt8]) -> Bool {
    var reader = CommandReader(.prompt)
    for line in text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
      do throws(ShellError) {
        guard case .commands(let commands) = try reader.read(line) else { continue }
        if commands.contains(where: matches) { return true }
      } catch {
        // A line that cannot be read may hold a secret all the same.
        return names(text[...])
      }
    }
    return false
  }

  private static func matches(_ command: CommandLine) -> Bool {
    guard case .word(let name) = command.arguments.first, let text = name.bareText?.lowercased(),
      ["set", "put"].contains(text)
    else { return false }
    return command.arguments.indices.dropFirst().contains { index in
      index != value(in: command) && names(command.text[command.arguments[index].range])
    }
  }

  /// The place of the value, the second word that is not an option's; it is not looked at.
  private static func value(in command: CommandLine) -> Int? {
    let options = CommandTable.standard.command(named: "set")?.options ?? []
    var words: [Int] = []
    var belongsToOption = false
    for (index, argument) in command.arguments.enumerated().dropFirst() {
      switch argument {
      case .word where belongsToOption: belongsToOption = false
      case .word: words.append(index)
      case .namespace: break
      case .option(let option):
        let takesValue = options.contains { $0.name == option.spelling && $0.kind != nil }
        belongsToOption = takesValue && option.value == nil
      }
    }
    return words.count > 1 ? words[1] : nil
  }

  private static func names(_ bytes: ArraySlice<UInt8>) -> Bool {
    let text = String(decoding: bytes, as: UTF8.self).lowercased()
    return words.contains { text.contains($0) }
  }
}
