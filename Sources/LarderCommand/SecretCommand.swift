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
    // The value itself is not looked at.
    return command.arguments.dropFirst().prefix(2).contains { argument in
      names(command.text[argument.range])
    }
  }

  private static func names(_ bytes: ArraySlice<UInt8>) -> Bool {
    let text = String(decoding: bytes, as: UTF8.self).lowercased()
    return words.contains { text.contains($0) }
  }
}
