import ArgumentParser
import Dispatch
import Foundation
import Synchronization

/// A display that fills the terminal and is drawn again and again.
///
/// It uses the terminal's alternate screen. At the end, also after an interruption or a signal to terminate, the terminal shows
/// what it showed before; while the program is suspended, too.
public enum LiveScreen {
  private static let enter = "\u{1B}[?1049h\u{1B}[?25l\u{1B}[?7l"
  private static let leave = "\u{1B}[?7h\u{1B}[?25h\u{1B}[?1049l"

  /// Held while the screen is drawn or left.
  private static let screen = Mutex(())

  /// A terminal that has gone sends a signal, which ends the display.
  private static func put(_ text: String) {
    try? FileHandle.standardOutput.write(contentsOf: Data(text.utf8))
  }

  private static func write(_ text: String) { screen.withLock { _ in put(text) } }

  /// Whether standard output is a terminal.
  public static var isPossible: Bool {
    isatty(FileHandle.standardOutput.fileDescriptor) == 1
      && ProcessInfo.processInfo.environment["TERM"] != "dumb"
  }

  /// Draws a frame each second, until a signal ends it: then it throws exit code 130. An error of `frame` ends it too.
  ///
  /// The last line of a frame is always visible. Lines before it for which the terminal has no rows are not.
  public static func run(_ frame: @escaping @Sendable () async throws -> [String]) async throws {
    write(enter)
    let drawing = Task {
      while true {
        write(picture(of: try await frame()))
        try await Task.sleep(for: .seconds(1))
      }
    }
    let ends = [SIGINT, SIGTERM, SIGHUP].map { handle($0) { drawing.cancel() } }
    let suspension = handle(SIGTSTP) {
      screen.withLock { _ in
        put(leave)
        kill(getpid(), SIGSTOP)
        put(enter)
      }
    }
    defer {
      write(leave)
      for source in ends + [suspension] { source.cancel() }
    }
    do {
      try await drawing.value
    } catch  where drawing.isCancelled {
      throw ExitCode(130)
    }
  }

  /// Each line goes to its own row. A terminal takes a row below its last one for the last one, so nothing scrolls, and what
  /// comes last stays there.
  static func picture(of lines: [String]) -> String {
    let rows = lines.enumerated().map { "\u{1B}[\($0 + 1)H\($1.inOneLine)\u{1B}[K" }
    return "\u{1B}[H" + rows.joined() + "\u{1B}[J"
  }

  private static func handle(
    _ number: Int32, _ body: @escaping @Sendable () -> Void
  ) -> any DispatchSourceSignal {
    signal(number, SIG_IGN)
    let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
    source.setEventHandler(handler: body)
    source.resume()
    return source
  }
}
