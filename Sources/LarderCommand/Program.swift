import ArgumentParser
import Larder
import LarderShell
import LarderTerminal
import ShellLanguage

#if Compression
  import LarderCompression
#endif

/// One run of the program, from its arguments to its exit code.
enum Program {
  static func run(_ words: [[UInt8]], environment: [String: String]) -> Int32 {
    var messages = Messages(isJSON: Messages.isJSON(words))
    do {
      if let path = try demoDirectory(words) { return try runDemo(at: path, environment) }
      let arguments = try ProgramArguments(words)
      let options = try Options.reading(arguments)
      messages.isJSON = [.json, .jsonl].contains(try options.mode)
      if words.isEmpty, environment["LARDER_STORE", default: ""].isEmpty {
        messages.write(introduction)
        return ShellError.Code.usage.exitCode
      }
      return try run(options, environment)
    } catch let error as ShellError {
      return messages.tell(error)
    } catch TerminalError.closed {
      return 0
    } catch let error as TerminalError {
      return messages.tell(ShellError(error))
    } catch {
      return run(after: error, messages)
    }
  }

  /// The option parser throws for `--help` and `--version`, too.
  private static func run(after error: any Error, _ messages: Messages) -> Int32 {
    guard OptionSyntax.exitCode(for: error) == .success else {
      return messages.tell(ShellError.usage(error))
    }
    do throws(TerminalError) {
      try Terminal.write(OptionSyntax.fullMessage(for: error) + "\n")
      return 0
    } catch {
      return error == .closed ? 0 : messages.tell(ShellError(error))
    }
  }

  static func run(_ options: Options, _ environment: [String: String]) throws -> Int32 {
    if let text = try options.document {
      try Terminal.write(text)
      return 0
    }
    guard let path = options.store ?? environment["LARDER_STORE"], !path.isEmpty else {
      throw ShellError(
        .usage, "no store is named", hint: "larder STORE, or set LARDER_STORE to its directory")
    }
    var storeOptions = Store.Options()
    storeOptions.create = options.create
    storeOptions.readOnly = options.readOnly
    #if Compression
      storeOptions.transforms = [ZstdCompression()]
    #endif
    storeOptions.allowsForeignOwner = options.allowForeignOwner
    let opening = StoreOpening(path, options: storeOptions, command: options.words)
    let store: Store
    do {
      store = try opening.store()
    } catch {
      guard let target = options.salvageTarget else { throw error }
      let salvage = try Salvage.run(path, target, storeOptions)
      try Terminal.write(salvage.summary + "\n")
      return 0
    }
    let runner = try ShellRunner(options, environment, store: store, storeOptions)
    let code = try runner.run()
    try runner.close()
    return code
  }
}

extension ShellError {
  init(_ error: TerminalError) {
    self.init(.io, "\(error.description)", hint: nil)
  }
}

extension Options {
  /// The directory of `salvage DIRECTORY`, as the only command, for a store that is too damaged to be opened.
  fileprivate var salvageTarget: String? {
    if self.words.count == 2, self.words[0] == Array("salvage".utf8) {
      return String(validating: self.words[1], as: UTF8.self)
    }
    guard steps.count == 1, case .command(let text) = steps[0].action else { return nil }
    let words = text.split(separator: " ", maxSplits: 1).map(String.init)
    guard words.count == 2, words[0] == "salvage" else { return nil }
    return words[1].trimmingPrefix("\"").hasSuffix("\"")
      ? String(words[1].dropFirst().dropLast()) : words[1]
  }
}
