package import ShellLanguage

/// What a session asks of the program around it.
package struct Host {
  /// The window in which answers appear.
  package struct Window: Sendable, Hashable {
    package let columns: Int
    package let rows: Int

    package init(columns: Int, rows: Int) {
      self.columns = columns
      self.rows = rows
    }
  }

  /// Standard input, where it is not what the commands themselves come from.
  package struct Input {
    /// The bytes up to the next one that ends an item, or up to the end; nil when there are none.
    let item: (_ end: UInt8) throws -> [UInt8]?
    /// Everything to the end.
    let rest: () throws -> [UInt8]

    package init(
      item: @escaping (_ end: UInt8) throws -> [UInt8]?, rest: @escaping () throws -> [UInt8]
    ) {
      self.item = item
      self.rest = rest
    }
  }

  /// A file that is read a piece at a time.
  package struct Reader {
    /// How many bytes there are; nil where nobody knows, as of a pipe.
    let size: Int?
    /// The next bytes; empty at the end.
    let next: () throws -> [UInt8]

    package init(size: Int? = nil, next: @escaping () throws -> [UInt8]) {
      self.size = size
      self.next = next
    }
  }

  /// A file that is written a piece at a time. Without being finished it comes to nothing.
  package struct Writer {
    let write: ([UInt8]) throws -> Void
    let finish: () throws -> Void

    package init(
      write: @escaping ([UInt8]) throws -> Void, finish: @escaping () throws -> Void
    ) {
      self.write = write
      self.finish = finish
    }
  }

  /// Takes the bytes of an answer.
  package var write: ([UInt8]) throws -> Void
  /// Tells a person, or a log, what is no part of the answer.
  package var notify: (SafeText) throws -> Void = { _ in }
  /// Asks yes or no; nil where there is nobody to ask.
  package var ask: ((SafeText) throws -> Bool)?
  package var input: Input?
  /// Shows how far a command has come, in place of what was shown before; nil takes it away. Nil
  /// where nobody waits.
  package var progress: ((SafeText?) throws -> Void)?
  package var window: () -> Window? = { nil }
  /// Whether the running command is to stop.
  package var isInterrupted: () -> Bool = { false }
  /// Waits; false if it was interrupted.
  package var pause: (Duration) throws -> Bool = { _ in false }

  /// What was typed at the prompt, the oldest first.
  package var history: () throws -> [String] = { [] }
  /// Opens a file; throws a `FileProblem`.
  package let read: (_ path: String) throws -> Reader
  /// Makes a file; one that is there is replaced if that is wanted, else it is a problem.
  package let make: (_ path: String, _ replaces: Bool) throws -> Writer

  /// Where a command may make a directory of its own that was asked for under a name; throws a `FileProblem`.
  package var directory: (_ path: String) throws -> String = { $0 }

  package init(
    write: @escaping ([UInt8]) throws -> Void,
    read: @escaping (_ path: String) throws -> Reader,
    make: @escaping (_ path: String, _ replaces: Bool) throws -> Writer
  ) {
    self.write = write
    self.read = read
    self.make = make
  }
}
