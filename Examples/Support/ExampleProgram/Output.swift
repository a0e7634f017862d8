import ArgumentParser
import Foundation
import Service

/// Standard output. Each call writes at once, so that a failure ends the command.
public enum Output {
  /// Writes the text and a line feed.
  ///
  /// A reader that has gone, as `head` does, ends the program without a message.
  public static func write(_ text: String) throws {
    do {
      try FileHandle.standardOutput.write(contentsOf: Data((text + "\n").utf8))
    } catch {
      let cause = ((error as? CocoaError)?.underlying ?? error) as NSError
      if cause.domain == NSPOSIXErrorDomain, cause.code == EPIPE { throw ExitCode(128 + SIGPIPE) }
      throw Failure(.failed, "standard output cannot be written: \(error.fileWords)")
    }
  }

  /// Writes a document of a service. A pipe gets the bytes as they are.
  public static func write(document text: String) throws {
    let isTerminal = isatty(FileHandle.standardOutput.fileDescriptor) == 1
    try write(isTerminal ? text.printable : text)
  }
}
