import Larder
import LarderShell
import LarderSystem
import LarderTerminal
import ShellLanguage

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

struct StoreOpening {
  private let path: String
  private let options: Store.Options
  private let command: [[UInt8]]

  init(_ path: String, options: Store.Options, command: [[UInt8]]) {
    self.path = path
    self.options = options
    self.command = command
  }

  func store() throws(ShellError) -> Store {
    if options.create, let reason = reasonNotToCreate { throw reason }
    do throws(LarderError) {
      return try Store(at: path, options: options)
    } catch {
      if error.code == .notFound { throw absent }
      if let owner = otherOwner { throw foreign(owner) }
      throw .opening(error)
    }
  }

  private var absent: ShellError {
    let name = Array(path.utf8)
    if let link = FileStatus.danglingLink(on: path) {
      return ShellError(
        .noSuchStore, "no store at \(name): \(link.words(for: path))", hint: DanglingLink.hint)
    }
    // The command is written before the store: `larder keys lego.larder`.
    if CommandTable.standard.command(named: path) != nil, let word = command.first,
      let store = String(validating: word, as: UTF8.self), LocalFile.exists(store)
    {
      let rest = command.dropFirst().map { " " + String(decoding: $0, as: UTF8.self) }.joined()
      return ShellError(
        .noSuchStore, "no store at \(name)", hint: "`larder \(store) \(path)\(rest)`")
    }
    if Store.isUnfinished(at: path) {
      return ShellError(
        .noSuchStore, "no store at \(name): a process was killed while it made one",
        hint: "use `--create` to make it")
    }
    if holdsOtherFiles {
      return ShellError(
        .noSuchStore, "no store at \(name): the directory holds other files",
        hint: "check the path; a new store needs a directory of its own")
    }
    if command.isEmpty, ProgramOptions.option(named: "--\(path)") != nil {
      return ShellError(
        .noSuchStore, "no store at \(name)", hint: "the option is `larder --\(path)`")
    }
    return ShellError(
      .noSuchStore, "no store at \(name)",
      hint: CommandTable.standard.command(named: path) == nil
        ? "use `--create` to create it, or check the path"
        : "STORE comes first: `larder STORE \(path)`, or `larder -e '\(path) ...'` with LARDER_STORE"
    )
  }

  private var holdsOtherFiles: Bool {
    guard let names = try? FileManager.default.contentsOfDirectory(atPath: path) else {
      return false
    }
    return !names.isEmpty
  }

  /// The user that owns the store; nil if it is the user of this process, is unknown, or is allowed by the options.
  private var otherOwner: Int? {
    guard !options.allowsForeignOwner, let owner = ByteFile.owner(of: path) else { return nil }
    return owner == geteuid() ? nil : Int(owner)
  }

  private func foreign(_ owner: Int) -> ShellError {
    ShellError(
      .foreignOwner, "\(Array(path.utf8)) belongs to user \(owner)",
      hint: "pass `--allow-foreign-owner` to open it anyway")
  }

  private var reasonNotToCreate: ShellError? {
    let files = FileManager.default
    let name = Array(path.utf8)
    guard !files.fileExists(atPath: path) else { return nil }
    if let link = FileStatus.danglingLink(on: path) {
      return ShellError(
        .cannotOpen, "cannot create \(name): \(link.words(for: path))", hint: DanglingLink.hint)
    }
    let trimmed = path.hasSuffix("/") ? String(path.dropLast()) : path
    guard let slash = trimmed.lastIndex(of: "/"), slash > trimmed.startIndex else { return nil }
    let parent = String(trimmed[..<slash])
    guard !files.fileExists(atPath: parent) else { return nil }
    return ShellError(
      .cannotOpen,
      "cannot create \(name): the directory \(Array(parent.utf8)) does not exist",
      hint: "create it first")
  }
}
