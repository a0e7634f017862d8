import CEditline

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A program that `/bin/sh` runs on the terminal of this process. The input of the program can be a pipe from this process.
package final class ChildProgram {
  private let text: [UInt8]
  private var descriptor: Int32 = -1
  private var process: pid_t = 0

  package init(_ text: [UInt8]) { self.text = text }

  /// Runs the program. Returns a report of a signal or of an exit code other than 0. SIGPIPE is expected and gives no report.
  package func run() throws(TerminalError) -> String? {
    try start(reading: -1)
    return wait()
  }

  /// Starts the program with a pipe to its input.
  package func open() throws(TerminalError) {
    var ends: [Int32] = [-1, -1]
    try unsafe check(pipe(&ends) == 0, "pipe")
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    defer { close(ends[0]) }
    do { try start(reading: ends[0]) } catch {
      close(ends[1])
      throw error
    }
    descriptor = ends[1]
  }

  /// Writes to the pipe. Throws `.closed` if the program reads no further bytes.
  package func write(_ bytes: Span<UInt8>) throws(TerminalError) {
    try TerminalSignals.attendProgram { () throws(TerminalError) in
      try Terminal.write(bytes, to: Terminal.Stream(descriptor: descriptor))
    }
  }

  /// Ends the input and waits for the program. Returns the same report as ``run()``.
  package func finish() -> String? {
    guard descriptor >= 0 else { return nil }
    close(descriptor)
    descriptor = -1
    return wait()
  }

  deinit { _ = finish() }

  /// - Parameter input: The descriptor from which the program reads; -1 for the input of this process.
  private func start(reading input: Int32) throws(TerminalError) {
    // The text need not be valid UTF-8, so the bytes are passed unchanged.
    let code = unsafe (text + [0]).withUnsafeBytes { bytes in
      unsafe cel_start(
        bytes.assumingMemoryBound(to: CChar.self).baseAddress!, input, environ, &process)
    }
    guard code == 0 else { throw .failed(operation: "start /bin/sh", code: code) }
  }

  private func wait() -> String? {
    var status: Int32 = 0
    let interrupts = TerminalSignals.counts.interrupts
    TerminalSignals.attendProgram {
      while unsafe waitpid(process, &status, 0) < 0, errno == EINTR {}
    }
    let signal = status & 0x7F
    let code = status >> 8 & 0xFF
    // If the program did not end by the interrupt, the interrupt was meant for the program, so this process need not stop.
    if signal != SIGINT, code != 128 + SIGINT { Interrupts.acknowledge(since: interrupts) }
    // If the last program of a shell ended by SIGPIPE, the exit code of the shell is 128 + 13. So this code gives no report.
    if signal == SIGPIPE || code == 128 + SIGPIPE { return nil }
    if signal != 0 { return "\(name) ended by signal \(signal)" }
    return code == 0 ? nil : "\(name) exited with \(code)"
  }

  private var name: String {
    let words = String(decoding: text, as: UTF8.self).split(separator: " ")
    let visible = words.first.map(String.init) ?? "the program"
    return String(visible.unicodeScalars.filter { Terminal.width(of: $0) != nil })
  }
}

/// The program that shows a long text, one screen at a time.
package enum Pager {
  /// The command in `$PAGER`, or else `less`. Nil if there is no such program, or if the terminal cannot move its cursor.
  package static func command(environment: [String: String]) -> String? {
    guard Terminal.movesCursor(on: .output, environment: environment) else { return nil }
    let wanted = environment["PAGER", default: ""]
    // `less` keeps colors and ends after a short text. The prompt of `less` explains how to leave, except if `$LESS` is set.
    let prompt = environment["LESS", default: ""].isEmpty ? " '-PSpace continues, q leaves'" : ""
    let command = wanted.isEmpty ? "less -FRX" + prompt : wanted
    let program = String(command.prefix { !" \t;|&<>()".contains($0) })
    let folders = environment["PATH", default: "/usr/bin:/bin"].split(separator: ":")
    let paths = program.contains("/") ? [program] : folders.map { "\($0)/\(program)" }
    return paths.contains { path in unsafe access(path, X_OK) == 0 } ? command : nil
  }
}
