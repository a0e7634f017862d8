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

#if Compression
  import LarderCompression
#endif

/// The program `larder`: a prompt for exploring a store. The program also runs commands and scripts, and works in a pipe.
@main enum LarderCommand {
  static let version = Store.version

  static func main() {
    do {
      // A file could get the number of a closed standard descriptor, so this call first opens the closed standard descriptors.
      try claimStandardDescriptors()
    } catch { exit(1) }
    Interrupts.install()
    exit(Program.run(Terminal.arguments, environment: ProcessInfo.processInfo.environment))
  }
}

enum Program {
  static func run(_ words: [[UInt8]], environment: [String: String]) -> Int32 {
    let options = Options(words)
    let messages = Messages(isJSON: [.json, .jsonl].contains(options.mode))
    do {
      if let path = try demoDirectory(words) { return try runDemo(at: path, environment) }
      if let error = options.error { throw error }
      if words.isEmpty, environment["LARDER_STORE", default: ""].isEmpty {
        messages.write(introduction)
        return ShellError.Code.usage.exitCode
      }
      return try run(options, environment)
    } catch let error as ShellError {
      return messages.tell(error)
    } catch TerminalError.closed, is Host.Sink.Closed {
      return 0
    } catch let error as TerminalError {
      return messages.tell(ShellError(error))
    } catch {
      return messages.tell(ShellError(.io, SafeText(String(describing: error)), hint: nil))
    }
  }

  static func run(_ options: Options, _ environment: [String: String]) throws -> Int32 {
    if let document = options.document {
      try Terminal.write(document)
      return 0
    }
    if options.store == "help", options.steps.isEmpty { return try runHelp(options, environment) }
    guard let path = options.store ?? environment["LARDER_STORE"], !path.isEmpty else {
      throw ShellError(
        .usage, "no store is named", hint: "larder STORE, or set LARDER_STORE to its directory")
    }
    var storeOptions = Store.Options()
    storeOptions.create = options.has("--create")
    storeOptions.readOnly = options.has("--read-only")
    // The programs that use an existing store have chosen its write buffer, so the shell does not change the buffer.
    storeOptions.keepsWriteBuffer = LocalFile.exists(path + "/data.mdb")
    #if Compression
      // The shell reads compressed values, but writes plain values, which programs without the trait `Compression` can read.
      let largest = Rules.largestPossibleValue
      storeOptions.transforms = [ZstdCompression(smallestValue: largest, largestValue: largest)]
    #endif
    storeOptions.allowsForeignOwner = options.has("--allow-foreign-owner")
    let store: Store
    do { store = try openStore(at: path, storeOptions, for: options.words) } catch {
      guard error.code != .noSuchStore, let target = salvageTarget(options) else { throw error }
      let salvage = try Salvage.run(path, target, storeOptions) { _ in !Interrupts.isPending }
      if !options.has("--quiet") {
        try Terminal.write(presentation(options, environment).bytes(of: salvage.reply).span)
      }
      try salvage.checkSaved()
      return 0
    }
    let runner = try ShellRunner(options, environment, store: store, storeOptions)
    let code = try runner.run()
    try ShellError.translating { try runner.session.store.close() }
    return code
  }

  /// The directory in `salvage DIRECTORY`, if no other command is given. `salvage` also works if the store cannot be opened.
  private static func salvageTarget(_ options: Options) -> String? {
    do throws(ShellError) {
      var commands: [ShellLanguage.CommandLine] = []
      if !options.words.isEmpty {
        commands = [try CommandReader.command(of: options.words)]
      } else if options.steps.count == 1, case .command(let text) = options.steps[0] {
        commands = try CommandReader.commands(
          in: text.utf8, from: .eval(1), variables: options.variables)
      }
      guard commands.count == 1,
        case let call = try CommandTable.standard.invocation(of: commands[0], clock: Options.clock),
        call.command.name == "salvage"
      else { return nil }
      return String(validating: call.bytes("DIRECTORY") ?? [], as: UTF8.self)
    } catch {
      // The caller reports why the store could not be opened. This error would hide that reason, so this error is dropped.
      return nil
    }
  }

  /// The text that `larder` prints if there are no arguments, and LARDER_STORE is not set.
  static let introduction = """
    larder STORE     open a store
    larder demo      create a small store to try
    larder --help    options and examples

    """

  /// Answers `larder help [COMMAND|TOPIC]`, which needs no store. For a store with the name `help`, write `./help`.
  static func runHelp(_ options: Options, _ environment: [String: String]) throws -> Int32 {
    guard options.words.count <= 1 else {
      throw ShellError(
        .usage, "`larder help` takes one command or topic",
        hint: "`larder help [COMMAND|TOPIC]`; a store named help is opened as `larder ./help`")
    }
    let presentation = presentation(options, environment)
    let reply = try CommandTable.standard.help(about: options.words.first, for: presentation)
    try Terminal.write(presentation.bytes(of: reply).span)
    return 0
  }

  /// The form of an answer for which no session exists. Such an answer contains no times, so the clock does not matter.
  private static func presentation(
    _ options: Options, _ environment: [String: String]
  ) -> Presentation {
    let settings = Settings(options, environment)
    return Presentation(
      settings.mode, isTerminal: settings.isTerminal, width: Terminal.size()?.columns,
      hasUnicode: settings.hasUnicode, clock: Options.clock)
  }

  /// The directory that `larder demo [DIRECTORY]` creates. Nil for other arguments. For a store named `demo`, write `./demo`.
  static func demoDirectory(_ words: [[UInt8]]) throws(ShellError) -> String? {
    guard words.first == Array("demo".utf8) else { return nil }
    guard words.count > 1 else { return DemoStore.directory }
    guard words.count == 2, words[1].first != UInt8(ascii: "-"),
      let path = String(validating: words[1], as: UTF8.self), !path.isEmpty
    else {
      throw ShellError(
        .usage, "`larder demo` takes a directory and nothing else",
        hint: "`larder demo [DIRECTORY]`; a store named demo is opened as `larder ./demo`")
    }
    return path
  }

  /// Creates the store. Opens the prompt if there is a terminal; otherwise prints the path.
  static func runDemo(at path: String, _ environment: [String: String]) throws -> Int32 {
    try ShellError.translating { try DemoStore.create(at: path) }
    guard Terminal.isTerminal(.input), Terminal.isTerminal(.output) else {
      try Terminal.write("\(SafeText(path))\n")
      return 0
    }
    try Terminal.write(
      "created \(SafeText(path)). Commands to try:\n\n"
        + DemoStore.suggestions.map { "  \($0)\n" }.joined() + "\n")
    return try run(Options([Array(path.utf8)]), environment)
  }
}

extension ShellError {
  init(_ error: TerminalError) {
    switch error {
    case .failed("read", _): self.init(error, .reading, "cannot read standard input")
    case .failed("write", _): self.init(error, .writing, "cannot write standard output")
    default: self.init(.io, "\(error.description)", hint: nil)
    }
  }
}
