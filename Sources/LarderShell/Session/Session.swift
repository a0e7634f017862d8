package import Larder
package import ShellLanguage

/// The shell without a terminal: a command line goes in, an answer comes out.
///
/// It keeps what lasts from one command to the next. Each command is its own transaction, or several
/// where it changes many entries; between commands nothing of the store is held.
package final class Session {
  /// Another one from the moment on at which a command had to close it and opened it again.
  package internal(set) var store: Store
  private let options: Store.Options
  let host: Host
  var clock: any LarderClock { options.clock }
  package var settings: Settings
  /// The namespace that commands mean when they name none.
  package internal(set) var current: String?
  /// The list that `more` goes on with.
  var listing: Listing?
  var separator = Separator.none
  /// What `diff` compares with, by name.
  var marks: [[UInt8]: StoreMark] = [:]
  /// How many files run within each other.
  var sourceDepth = 0

  /// - Parameter options: With which the store was opened.
  package init(
    store: Store, options: Store.Options = Store.Options(), settings: Settings, host: Host
  ) {
    self.store = store
    self.options = options
    self.settings = settings
    self.host = host
  }

  package var now: UnixTime { clock.now.unix }
  package var wallClock: WallClock { WallClock(now: now, zone: settings.zone) }

  package var isReadOnly: Bool { store.isReadOnly }

  /// Runs a command. What is thrown is a `ShellError` with its place, or what the host threw.
  package func run(_ line: CommandLine) throws -> Outcome {
    do {
      let call = try CommandTable.standard.invocation(of: line, clock: wallClock)
      guard call.command.access == .reads || !isReadOnly else {
        throw ShellError.readOnly(call.command.name)
      }
      return try Command.run(call, in: self)
    } catch let error as ShellError {
      throw line.locate(error)
    } catch let error as LarderError {
      throw line.locate(ShellError(error))
    } catch is Interruption {
      throw line.locate(ShellError(.interrupted, "interrupted", hint: nil))
    }
  }
}

extension Session {
  /// Closes the store, does something to its files, and opens it again, whatever came of that.
  func whileClosed<Result>(
    _ body: (_ path: String, _ options: Store.Options) throws -> Result
  ) throws -> Result {
    let path = store.path
    listing = nil
    try store.close()
    var again = options
    again.create = false
    let result = Swift.Result { try body(path, options) }
    store = try Store(at: path, options: again)
    return try result.get()
  }
}

/// Somebody wants the running command to stop.
package struct Interruption: Error {
  package init() {}
}
