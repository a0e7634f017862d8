import ArgumentParser
import Larder
import LarderShell
import LarderTerminal
import ShellLanguage

/// One run of the program, from its arguments to its exit code.
enum Program {
  /// An argument that is not UTF-8 is nil: a command must not silently be about another key than was meant.
  static func run(_ words: [String?], environment: [String: String]) -> Int32 {
    let arguments = words.compactMap { $0 }
    var messages = Messages(isJSON: Messages.isJSON(arguments))
    if let index = words.firstIndex(of: nil) {
      return messages.tell(
        ShellError(
          .usage, "argument \(index + 1) is not UTF-8",
          hint: "say its bytes: hex:ff for a key or a value"))
    }
    do {
      let options = try Options.reading(arguments)
      messages.isJSON = [.json, .jsonl].contains(try options.mode)
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

  /// What the parser throws is a wish for help as well as an error.
  private static func run(after error: any Error, _ messages: Messages) -> Int32 {
    guard Options.exitCode(for: error) == .success else {
      return messages.tell(ShellError.usage(error))
    }
    do throws(TerminalError) {
      try Terminal.write(Options.fullMessage(for: error) + "\n")
      return 0
    } catch {
      return error == .closed ? 0 : messages.tell(ShellError(error))
    }
  }

  private static func run(_ options: Options, _ environment: [String: String]) throws -> Int32 {
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
    let conversation = try ShellRunner(
      options, environment, store: open(path, storeOptions), storeOptions)
    let code = try conversation.run()
    try conversation.close()
    return code
  }

  private static func open(
    _ path: String, _ options: Store.Options
  ) throws(ShellError) -> Store {
    do throws(LarderError) {
      return try Store(at: path, options: options)
    } catch {
      throw .opening(error)
    }
  }
}

extension ShellError {
  init(_ error: TerminalError) {
    self.init(.io, "\(error.description)", hint: "the answer could not be written, or input read")
  }
}
