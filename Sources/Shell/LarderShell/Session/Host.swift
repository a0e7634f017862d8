package import Larder
package import ShellLanguage

/// The services that the program gives to a session. If `read`, `make`, `redirect` or `directory` fails, the service throws a
/// `ShellError` that names the file, or an `Interruption`.
package struct Host {
  package typealias Window = (columns: Int, rows: Int)

  /// Standard input or a file. The time to read all bytes is linear in their number.
  package final class Input {
    /// The number of bytes. Nil if the number is unknown, for example for a pipe.
    let size: Int?
    private let next: () throws -> [UInt8]
    private var buffer: [UInt8] = []
    private var start = 0
    private var isAtEnd = false

    /// - Parameter next: Reads the next bytes. Returns no bytes at the end.
    package init(size: Int? = nil, next: @escaping () throws -> [UInt8]) {
      self.size = size
      self.next = next
    }

    /// The bytes up to the next `end` byte, or up to the end of the input. Nil if no bytes are left. If there are more than
    /// `most` bytes, the result may be only their beginning, at least `most` + 1 bytes.
    func item(_ end: UInt8, _ most: Int) throws -> [UInt8]? {
      var searched = start
      while true {
        if let found = buffer[searched...].firstIndex(of: end) {
          defer { start = found + 1 }
          return Array(buffer[start..<found])
        }
        searched = buffer.count - start
        if isAtEnd || searched > most { return searched == 0 ? nil : takeRest() }
        try fill()
      }
    }

    /// All bytes up to the end, or at least the first `most` + 1 bytes.
    package func rest(_ most: Int) throws -> [UInt8] {
      while !isAtEnd, buffer.count - start <= most { try fill() }
      return takeRest()
    }

    /// Reads the next piece, and frees the bytes that callers have already received.
    private func fill() throws {
      let piece = try next()
      isAtEnd = piece.isEmpty
      buffer.removeFirst(start)
      start = 0
      buffer += piece
    }

    private func takeRest() -> [UInt8] {
      defer { (buffer, start) = ([], 0) }
      return Array(buffer[start...])
    }
  }

  /// Receives the output of one redirected command, or the content of a file. The file appears only when it is complete.
  package struct Sink {
    /// The reader of the output has ended: the program of a redirection, the pager, or the reader of standard output.
    package struct Closed: Error {
      let isRedirected: Bool

      package init(isRedirected: Bool = false) { self.isRedirected = isRedirected }
    }

    let write: ([UInt8]) throws -> Void
    /// Ends the output. A file is kept only if `isComplete` is true. The result is a note if a program failed.
    let finish: (_ isComplete: Bool) throws -> String?

    package init(
      write: @escaping ([UInt8]) throws -> Void,
      finish: @escaping (_ isComplete: Bool) throws -> String?
    ) {
      self.write = write
      self.finish = finish
    }
  }

  /// Opens the destination of redirected output. Nil if output cannot be redirected.
  package var redirect: ((Redirection) throws -> Sink)?

  package var write: ([UInt8]) throws -> Void
  /// Writes a note to standard error. A note is not part of the answer.
  package var notify: (SafeText) throws -> Void = { _ in }
  /// Asks a question, and returns true for yes. Nil if there is no terminal.
  package var ask: ((SafeText) throws -> Bool)?
  /// Takes standard input; the result is nil after the first call. The closure is nil while commands come from standard input.
  package var input: (() -> Input?)?
  /// Replaces the text of the progress line. A nil text removes the line. The closure is nil if there is no terminal.
  package var progress: ((SafeText?) throws -> Void)?
  package var window: () -> Window? = { nil }
  package var isInterrupted: () -> Bool = { false }

  func checkInterruption() throws { if isInterrupted() { throw Interruption() } }

  /// Waits for this duration. Returns false if ^C ended the wait.
  package var pause: (Duration) throws -> Bool = { _ in false }

  package var copy: (([UInt8]) throws -> Void)?

  /// Writes bytes to a private file with this extension, and runs an editor. Then gives the edited bytes to `use`, and removes the
  /// file. If a step fails, keeps the file and writes a note with its path. Nil if there is no terminal.
  package var edit:
    ((_ bytes: [UInt8], _ pathExtension: String, _ use: ([UInt8]) throws -> Void) throws -> Void)?

  /// The whole screen of the terminal, which one command uses at a time.
  package struct Screen {
    package enum Event {
      case bytes([UInt8])
      /// The size of the window has changed, or other output has overwritten the content.
      case redraw
      case timeout
      case end
    }

    let size: () -> Window
    let wait: (_ limit: Duration) throws -> Event
    let write: ([UInt8]) throws -> Void
    /// Stops the process as ^Z does. When the process continues, takes the screen again.
    let suspend: () throws -> Void
    /// Restores the content that the terminal had before.
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

  func takeInput() throws(ShellError) -> Input {
    guard let takeInput = input else {
      throw ShellError(
        .usage, "standard input is where the commands come from",
        hint: "give the commands with --eval or in a file: -f FILE")
    }
    guard let input = takeInput() else {
      throw ShellError(
        .usage, "an earlier command has read standard input",
        hint: "write the bytes to a file, and name the file in both commands")
    }
    return input
  }

  /// Takes the whole screen. Nil if there is no terminal, or if the terminal cannot move its cursor.
  package var openScreen: (() throws -> Screen)?

  package var history: () throws -> [String] = { [] }
  package var forgetHistory: () throws -> Void = {}
  package let read: (_ path: String) throws -> Input
  /// Creates a file. Replaces an existing file only if `replaces` is true.
  package let make: (_ path: String, _ replaces: Bool) throws -> Sink

  /// Turns the name of a directory into the path at which a command may create the directory.
  package var directory: (_ path: String) throws -> String = { $0 }

  package typealias Fact = (name: String, cell: Cell)

  /// Facts of other libraries about the whole store, for `stats`. The shell imports none of these libraries.
  package var storeFacts: (Store) throws -> [Fact] = { _ in [] }
  /// Further columns of `info` for the entries of a namespace.
  package var entryFacts: (Store.Namespace) throws -> ((Store.Entry) -> [Fact])? = { _ in nil }

  package init(
    write: @escaping ([UInt8]) throws -> Void, read: @escaping (_ path: String) throws -> Input,
    make: @escaping (_ path: String, _ replaces: Bool) throws -> Sink
  ) {
    self.write = write
    self.read = read
    self.make = make
  }
}
