package import ShellLanguage

/// The services that a session gets from the program around it.
package struct Host {
  package struct Window: Sendable, Hashable {
    package let columns: Int
    package let rows: Int

    package init(columns: Int, rows: Int) {
      self.columns = columns
      self.rows = rows
    }
  }

  /// Standard input or a file.
  package struct Input {
    /// The number of bytes; nil if it is unknown, as for a pipe.
    var size: Int?
    /// The bytes up to the next `end` byte, or up to the end of the input; nil at the end. If there are more than `most` bytes,
    /// the result may have only the first bytes, at least `most` + 1.
    let item: (_ end: UInt8, _ most: Int) throws -> [UInt8]?
    /// All bytes up to the end, or at least the first `most` + 1 bytes.
    package let rest: (_ most: Int) throws -> [UInt8]
  }

  /// Receives the output of one redirected command, or the content of a file. The file appears when it is finished.
  package struct Sink {
    /// The program that receives the output reads no more.
    package struct Closed: Error { package init() {} }

    let write: ([UInt8]) throws -> Void
    /// Ends the output; a file is kept only if `isComplete` is true. The result is a note about a failed program.
    let finish: (_ isComplete: Bool) throws -> String?

    package init(
      write: @escaping ([UInt8]) throws -> Void,
      finish: @escaping (_ isComplete: Bool) throws -> String?
    ) {
      self.write = write
      self.finish = finish
    }
  }

  /// Opens the destination of redirected output; throws a `FileProblem`. Nil if output cannot be redirected.
  package var redirect: ((Redirection) throws -> Sink)?

  package var write: ([UInt8]) throws -> Void
  /// Writes a note that is not part of the answer, to standard error.
  package var notify: (SafeText) throws -> Void = { _ in }
  /// Asks a question; true for yes. Nil without a terminal.
  package var ask: ((SafeText) throws -> Bool)?
  /// Standard input; nil while commands are read from it.
  package var input: Input?
  /// Replaces the progress line; a nil text removes the line. The closure is nil without a terminal.
  package var progress: ((SafeText?) throws -> Void)?
  package var window: () -> Window? = { nil }
  /// Whether the running command must stop.
  package var isInterrupted: () -> Bool = { false }

  func checkInterruption() throws {
    if isInterrupted() { throw Interruption() }
  }

  /// Waits for a duration; false if ^C interrupted the wait.
  package var pause: (Duration) throws -> Bool = { _ in false }

  package var copy: (([UInt8]) throws -> Void)?

  package struct Draft {
    let path: String
    /// Opens the editor and waits for its end; the result is a report of a failure, or nil.
    let run: () throws -> String?
    let contents: () throws -> [UInt8]
    let remove: () throws -> Void

    package init(
      path: String, run: @escaping () throws -> String?,
      contents: @escaping () throws -> [UInt8], remove: @escaping () throws -> Void
    ) {
      self.path = path
      self.run = run
      self.contents = contents
      self.remove = remove
    }
  }

  /// Writes bytes to a private file for an editor; the name of the file has this extension. Nil without a terminal.
  package var edit: ((_ bytes: [UInt8], _ pathExtension: String) throws -> Draft)?

  /// The whole screen of the terminal, for one command.
  package struct Screen {
    package enum Event {
      case bytes([UInt8])
      /// The window has another size, or its content was overwritten.
      case redraw
      case timeout
      case end
    }

    let size: () -> Window
    let wait: (_ limit: Duration) throws -> Event
    let write: ([UInt8]) throws -> Void
    /// Stops the process as ^Z does, and takes the screen again when the process continues.
    let suspend: () throws -> Void
    /// Restores the former content of the terminal.
    let close: () throws -> Void

    package init(
      size: @escaping () -> Window, wait: @escaping (_ limit: Duration) throws -> Event,
      write: @escaping ([UInt8]) throws -> Void, suspend: @escaping () throws -> Void,
      close: @escaping () throws -> Void
    ) {
      self.size = size
      self.wait = wait
      self.write = write
      self.suspend = suspend
      self.close = close
    }
  }

  /// Takes the whole screen; nil without a terminal that can move its cursor.
  package var openScreen: (() throws -> Screen)?

  package var history: () throws -> [String] = { [] }
  package var forgetHistory: () throws -> Void = {}
  package let read: (_ path: String) throws -> Input
  /// Creates a file; replaces an existing file only if `replaces` is true.
  package let make: (_ path: String, _ replaces: Bool) throws -> Sink

  /// Turns the name of a new directory into the path at which a command may create the directory; throws a `FileProblem`.
  package var directory: (_ path: String) throws -> String = { $0 }

  package init(
    write: @escaping ([UInt8]) throws -> Void,
    read: @escaping (_ path: String) throws -> Input,
    make: @escaping (_ path: String, _ replaces: Bool) throws -> Sink
  ) {
    self.write = write
    self.read = read
    self.make = make
  }
}
