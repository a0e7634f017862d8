// FoundationEssentials has no FileHandle.
import Foundation

/// The program's standard error: where people are told things, never data.
enum Console {
  /// Whether somebody watches, at a terminal that can go back to the start of a line.
  static var isWatched: Bool {
    isatty(FileHandle.standardError.fileDescriptor) == 1
      && ProcessInfo.processInfo.environment["TERM"] != "dumb"
  }

  static func complain(_ line: String) { write(line + "\n") }

  static func write(_ text: String) { FileHandle.standardError.write(Data(text.utf8)) }
}
