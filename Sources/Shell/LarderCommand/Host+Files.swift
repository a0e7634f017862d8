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

extension Host.Input {
  /// - Parameter message: The beginning of the error message for a file that cannot be read.
  convenience init(_ path: String, _ message: SafeText) throws {
    let file = try ShellError.explaining(.reading, message, path) { try ByteFile(reading: path) }
    self.init(size: file.size) {
      try ShellError.explaining(.reading, message) {
        guard let bytes = try file.read() else { throw Interruption() }
        return bytes
      }
    }
  }
}

extension Host.Sink {
  /// - Parameter message: The beginning of the error message for a file that cannot be written.
  init(_ path: String, _ message: SafeText, _ open: () throws -> ByteFile) throws {
    let file = try ShellError.explaining(.writing, message, path, open)
    self.init(
      write: { bytes in try ShellError.explaining(.writing, message) { try file.write(bytes.span) }
      },
      finish: { isComplete in
        if isComplete { try ShellError.explaining(.writing, message) { try file.finish() } }
        return nil
      })
  }

  init(_ redirection: Redirection, _ environment: [String: String]) throws {
    switch redirection {
    case .program(let text, _):
      let program = ChildProgram(text)
      try ShellError.explaining(.writing, "cannot start the program") { try program.open() }
      self.init(
        write: { bytes in
          do throws(TerminalError) { try program.write(bytes.span) } catch .closed {
            throw Host.Sink.Closed(isRedirected: true)
          }
        },
        finish: { _ in
          let problem = program.finish()
          try Terminal.beginLine(environment)
          return problem
        })
    case .file(let word, let appends):
      let message: SafeText = "cannot write \(word.bytes)"
      guard var path = String(validating: word.bytes, as: UTF8.self), !path.isEmpty,
        !path.utf8.contains(0)
      else {
        throw ShellError(.io, "\(message): the name of a file is UTF-8 and not empty", hint: nil)
      }
      if path == "~" || path.hasPrefix("~/"), let home = environment["HOME"] {
        path = home + path.dropFirst()
      }
      try self.init(path, message) { [path] in
        appends ? try ByteFile(appendingTo: path) : try ByteFile(writing: path, replaces: true)
      }
    }
  }
}

extension Host {
  /// Edits bytes in a file in its own directory. A value may be private, so only the owner can read the file.
  static func openEditor(
    on bytes: [UInt8], pathExtension: String, _ environment: [String: String],
    _ output: PagedOutput, _ use: ([UInt8]) throws -> Void
  ) throws {
    let directory = try privateDirectory(in: environment["TMPDIR"] ?? "/tmp")
    let path = "\(directory)/value.\(pathExtension)"
    do {
      try ShellError.explaining(.writing, "cannot write the text to edit") {
        let file = try ByteFile(writing: path, replaces: false)
        try file.write(bytes.span)
        try file.finish()
      }
    } catch {
      try? FileManager.default.removeItem(atPath: directory)
      throw error
    }
    do {
      try output.wait()
      let editor = ["VISUAL", "EDITOR"].lazy.compactMap { environment[$0] }.first { !$0.isEmpty }
      // VISUAL or EDITOR may contain arguments, so a system shell runs the text. The path is quoted for the system shell.
      let program = ChildProgram(Array("\(editor ?? "vi") \(path.shellWord)".utf8))
      let problem = try ShellError.explaining(.writing, "cannot start the editor", nil, program.run)
      Interrupts.acknowledge()
      if let problem { throw ShellError(.io, "\(problem)", hint: "check $VISUAL and $EDITOR") }
      try use(Input(path, "cannot read the edited text").rest(.max))
      // Some editors write copies beside the file, so the whole directory is removed.
      do { try FileManager.default.removeItem(atPath: directory) } catch {
        throw ShellError(.io, "the edited file stays: cannot remove \(directory)", hint: nil)
      }
    } catch {
      // The file with the person's text is kept, so that the text is not lost.
      try output.tell("your text is in \(path)")
      throw error
    }
  }

  private static func privateDirectory(in parent: String) throws(ShellError) -> String {
    do throws(TerminalError) { return try ByteFile.privateDirectory(in: parent) } catch {
      throw ShellError(
        .io, "cannot create a directory in \(Array(parent.utf8)): \(error.description)",
        hint: "set TMPDIR to a directory that can be written")
    }
  }
}

extension Terminal {
  static func writeWrapped(_ text: String, to stream: Stream = .output) throws(TerminalError) {
    let columns = size(of: stream)?.columns
    try write(DisplayWidth.wrap(text, columns: columns, indent: 2), to: stream)
  }

  /// Moves the cursor, whose column is unknown, to the beginning of a line: writes as many spaces as a line has columns, and a
  /// carriage return. If the cursor was in the middle of a line, the cursor is then on the next line.
  static func beginLine(_ environment: [String: String]) throws {
    guard movesCursor(on: .output, environment: environment), let columns = size()?.columns else {
      return
    }
    try write(String(repeating: " ", count: columns) + "\r\u{1B}[K")
  }
}

extension ShellError {
  enum FileAccess { case reading, writing }

  /// Runs `body`. Turns an error of the system into an error of the shell, and an interrupted call into an `Interruption`.
  static func explaining<Result>(
    _ access: FileAccess, _ message: SafeText, _ path: String? = nil, _ body: () throws -> Result
  ) throws -> Result {
    do { return try body() } catch TerminalError.failed(_, EINTR) {
      throw Interruption()
    } catch let error as TerminalError {
      throw ShellError(error, access, message, path)
    }
  }

  /// The error for a file that cannot be used. The error message begins with `message`, such as `cannot read "a"`.
  init(_ error: TerminalError, _ access: FileAccess, _ message: SafeText, _ path: String? = nil) {
    var (kind, reason, hint): (Code, SafeText, SafeText?) = (.io, "\(error.description)", nil)
    if case .failed(_, let code) = error {
      switch code {
      case ENOENT, ENOTDIR:
        reason = access == .reading ? "no such file" : "no such directory"
        hint = "names are relative to the directory where the shell was started"
        if let path, let link = FileStatus.danglingLink(on: path) {
          (reason, hint) = (link.words(for: path), DanglingLink.hint)
        }
      case EEXIST: (kind, reason, hint) = (.exists, "it exists", "name another file")
      case EACCES, EPERM, EROFS: (reason, hint) = ("permission denied", "check its owner and mode")
      case EISDIR: (reason, hint) = ("it is a directory", "name a file")
      case ENOSPC, EDQUOT: (kind, reason) = (.full, "no space left on the device")
      // This error means that the parent process had closed this standard descriptor at the start.
      case EBADF: reason = "it is closed"
      default: break
      }
    }
    self.init(kind, "\(message): \(reason)", hint: hint)
  }
}
