import Larder
import LarderShell
import LarderSystem
import LarderTerminal
import ShellLanguage

extension Program {
  /// - Parameter command: The words of the command, for the hint if the store does not exist.
  static func openStore(
    at path: String, _ options: Store.Options, for command: [[UInt8]]
  ) throws(ShellError) -> Store {
    if options.create { try checkCreation(at: path) }
    do throws(LarderError) { return try Store(at: path, options: options) } catch {
      if error.code == .notFound { throw absence(of: path, command) }
      if !options.allowsForeignOwner, let owner = ByteFile.otherOwner(of: path) {
        throw ShellError(
          .foreignOwner, "\(Array(path.utf8)) belongs to user \(Int(owner))",
          hint: "pass `--allow-foreign-owner` to open it anyway")
      }
      throw .opening(error)
    }
  }

  private static func absence(of path: String, _ command: [[UInt8]]) -> ShellError {
    func error(_ reason: SafeText = "", hint: SafeText) -> ShellError {
      ShellError(.noSuchStore, "no store at \(Array(path.utf8))\(reason)", hint: hint)
    }
    if let link = FileStatus.danglingLink(on: path) {
      return error(": \(link.words(for: path))", hint: DanglingLink.hint)
    }
    // If the person wrote the command before the store (`larder keys lego.larder`), the hint shows the words in the right order.
    if CommandTable.standard.command(named: path) != nil, let word = command.first,
      let store = String(validating: word, as: UTF8.self), LocalFile.exists(store)
    {
      let rest = command.dropFirst().map { " " + String(decoding: $0, as: UTF8.self) }.joined()
      return error(hint: "`larder \(store) \(path)\(rest)`")
    }
    if Store.isUnfinished(at: path) {
      return error(": a process was killed while it made one", hint: "use `--create` to make it")
    }
    if let names = try? LocalFile.names(in: path), !names.isEmpty {
      return error(
        ": the directory holds other files",
        hint: "check the path; a new store needs a directory of its own")
    }
    if command.isEmpty, ProgramOptions.option(named: "--\(path)") != nil {
      return error(hint: "the option is `larder --\(path)`")
    }
    return error(
      hint: CommandTable.standard.command(named: path) == nil
        ? "use `--create` to create it, or check the path"
        : "STORE comes first: `larder STORE \(path)`, or `larder -e '\(path) ...'` with LARDER_STORE"
    )
  }

  private static func checkCreation(at path: String) throws(ShellError) {
    guard !LocalFile.exists(path) else { return }
    let name = Array(path.utf8)
    if let link = FileStatus.danglingLink(on: path) {
      throw ShellError(
        .cannotOpen, "cannot create \(name): \(link.words(for: path))", hint: DanglingLink.hint)
    }
    let trimmed = path.hasSuffix("/") ? String(path.dropLast()) : path
    guard let slash = trimmed.unicodeScalars.lastIndex(of: "/"), slash > trimmed.startIndex else {
      return
    }
    let parent = String(trimmed[..<slash])
    guard LocalFile.exists(parent) else {
      throw ShellError(
        .cannotOpen, "cannot create \(name): the directory \(Array(parent.utf8)) does not exist",
        hint: "create it first")
    }
  }
}

extension DanglingLink {
  static let hint: SafeText = "create the target or remove the link"

  /// - Parameter path: The path that the person named: the link itself, or a path that contains the link.
  func words(for path: String) -> SafeText {
    let link: SafeText = self.path == path ? "it" : "\(Array(self.path.utf8))"
    return "\(link) is a symbolic link to \(Array(target.utf8)), which does not exist"
  }
}
