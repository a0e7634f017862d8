package import Larder

/// The shell without a terminal: a command line goes in, an answer comes out.
///
/// It keeps what lasts from one command to the next. Each command is its own transaction, or several
/// where it changes many entries; between commands nothing of the store is held.
package final class Session {
  let store: Store
  let host: Host
  let clock: any LarderClock
  package var settings: Settings
  /// The namespace that commands mean when they name none.
  package internal(set) var current: String?
  /// The list that `more` goes on with.
  var listing: Listing?
  var separator = Separator.none
  /// What `diff` compares with, by name.
  var marks: [[UInt8]: Marked] = [:]
  /// How many files run within each other.
  var sourceDepth = 0

  /// - Parameter clock: The store's own.
  package init(
    store: Store, clock: any LarderClock = SystemClock(), settings: Settings, host: Host
  ) {
    self.store = store
    self.clock = clock
    self.settings = settings
    self.host = host
  }

  package var wallClock: WallClock { WallClock(now: clock.now, zone: settings.zone) }

  package var isReadOnly: Bool { store.isReadOnly }

  /// Runs a command. What is thrown is a `ShellError` with its place, or what the host threw.
  package func run(_ line: CommandLine) throws -> Outcome {
    do {
      let call = try CommandTable.standard.invocation(of: line, clock: wallClock)
      guard call.command.access == .reads || !isReadOnly else {
        throw ShellError.readOnly(call.command.name)
      }
      return try call.command.run(call, self)
    } catch let error as ShellError {
      throw line.locate(error)
    } catch let error as LarderError {
      throw line.locate(ShellError(error))
    } catch is Interruption {
      throw line.locate(ShellError(.interrupted, "interrupted", hint: nil))
    }
  }
}

/// Somebody wants the running command to stop.
package struct Interruption: Error {
  package init() {}
}
