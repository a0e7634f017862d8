import LarderShell
import ShellLanguage

/// Finds lines of the prompt that may contain a secret, so that these lines are not written to the history file.
enum SecretCommand {
  /// Parts of names of secrets. The search ignores characters between words, such as `_`.
  private static let parts = [
    "secret", "token", "password", "passwd", "passphrase", "passcode", "pwd", "credential", "auth",
    "bearer", "access", "cookie", "session", "apikey", "private", "signature",
  ]
  /// Names of secrets that are also parts of other words, so that only whole words are compared.
  private static let words: Set<String> = ["jwt", "otp", "totp", "pin", "pat"]

  /// Whether a line seems to contain the name of a secret, and so perhaps the secret. Only three kinds of line can match: a
  /// `set`, a line that cannot be parsed, and a line that runs another program.
  ///
  /// - Parameter unnamed: Returns the namespace of a `set` that names no namespace.
  static func matches(_ text: [UInt8], in unnamed: () -> String? = { nil }) -> Bool {
    var reader = CommandReader(.prompt)
    var used: String?
    do throws(ShellError) {
      for line in text.lines {
        switch try reader.read(line) {
        case .commands(let commands):
          for command in commands { if try matches(command, &used, unnamed) { return true } }
        case .program(let program): if names(program) { return true }
        case .open: continue
        }
      }
      return false
    } catch { return names(text) }
  }

  /// Whether a command contains the name of a secret. The value of a `set` is not searched.
  ///
  /// - Parameter used: The namespace that a `use` of the same line has set.
  private static func matches(
    _ command: CommandLine, _ used: inout String?, _ unnamed: () -> String?
  ) throws(ShellError) -> Bool {
    if case .program(let program, _) = command.output, names(program) { return true }
    let call = try CommandTable.standard.invocation(of: command, clock: Options.clock)
    if call.command.name == "use" { used = call.namespaceNames("NS").first?.text }
    guard call.command.name == "set" else { return false }
    var named = [call.bytes("KEY"), call.bytes("--from")].compactMap(\.self)
    if case .named(let namespaces) = call.namespaces {
      named += namespaces.map { Array($0.text.utf8) }
    } else if let namespace = used ?? unnamed() {
      named.append(Array(namespace.utf8))
    }
    return named.contains(where: names)
  }

  private static func names(_ bytes: [UInt8]) -> Bool {
    let text = String(decoding: bytes, as: UTF8.self).lowercased()
    let joined = text.filter { !["-", ".", "_", " "].contains($0) }
    if parts.contains(where: joined.contains) { return true }
    return text.split { !$0.isLetter }.contains { words.contains(String($0)) }
  }
}
