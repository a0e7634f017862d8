// FoundationEssentials has no FileHandle.
import Foundation

/// The program's standard error: where people are told things, never data.
public enum Console {
  /// Whether somebody watches, at a terminal that can go back to the start of a line.
  public static var isWatched: Bool {
    isatty(FileHandle.standardError.fileDescriptor) == 1
      && ProcessInfo.processInfo.environment["TERM"] != "dumb"
  }

  public static func complain(_ line: String) { write(line + "\n") }

  public static func write(_ text: String) { FileHandle.standardError.write(Data(text.utf8)) }
}
