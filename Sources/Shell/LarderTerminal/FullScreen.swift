#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The whole screen of the terminal. Keys are read as they are typed. At the end, and at a signal of `EmergencyExit`, the screen
/// shows its former content. A process may have only one `FullScreen`, and none while a `LineEditor` reads.
package final class FullScreen {
  package enum Event {
    case bytes([UInt8])
    /// The window has another size, or the process continued after a stop.
    case redraw
    case timedOut
    case end
  }

  /// Switches to the alternate screen, hides the cursor, and requests marks around pasted text.
  private static let begin = "\u{1B}[?1049h\u{1B}[?25l\u{1B}[?2004h"
  static let end = "\u{1B}[0m\u{1B}[?2004l\u{1B}[?25h\u{1B}[?1049l"

  private let modes: termios
  private var seen: TerminalSignals.Counts

  package init() throws(TerminalError) {
    var modes = termios()
    try unsafe check(tcgetattr(STDIN_FILENO, &modes) == 0, "tcgetattr")
    self.modes = modes
    TerminalSignals.countChanges()
    seen = TerminalSignals.counts
    try enter()
  }

  package func next(within limit: Duration) throws(TerminalError) -> Event {
    let result = try Terminal.wait(for: .input, atMost: limit)
    let counts = TerminalSignals.counts
    // If several signals came, each call handles one signal.
    if counts.suspensions != seen.suspensions {
      try suspend()
      return .redraw
    }
    if counts.continuations != seen.continuations {
      seen.continuations = counts.continuations
      // The process continues after SIGSTOP. The shell may have changed the terminal modes, so this call sets the modes again.
      try enter()
      return .redraw
    }
    if counts.resizes != seen.resizes {
      seen.resizes = counts.resizes
      return .redraw
    }
    if counts.interrupts != seen.interrupts {
      seen.interrupts = counts.interrupts
      Interrupts.acknowledge()
      return .bytes([0x03])
    }
    guard result == .ready else { return .timedOut }
    let bytes = try Terminal.read(.input, atMost: 4096)
    return bytes.isEmpty ? .end : .bytes(bytes)
  }

  /// Restores the terminal, stops the process as ^Z does, and takes the terminal again when the process continues.
  package func suspend() throws(TerminalError) {
    try leave()
    TerminalSignals.suspend()
    try enter()
    seen = TerminalSignals.counts
  }

  package func close() throws(TerminalError) {
    guard unsafe EmergencyExit.isArmed else { return }
    try leave()
  }

  private func enter() throws(TerminalError) {
    var raw = modes
    unsafe cfmakeraw(&raw)
    TerminalSignals.deferTermination()
    EmergencyExit.arm(restoring: modes)
    try unsafe check(tcsetattr(STDIN_FILENO, TCSADRAIN, &raw) == 0, "tcsetattr")
    try Terminal.write(Self.begin)
  }

  private func leave() throws(TerminalError) {
    defer {
      EmergencyExit.disarm()
      TerminalSignals.restoreTermination()
    }
    var modes = modes
    let code = unsafe tcsetattr(STDIN_FILENO, TCSADRAIN, &modes) == 0 ? 0 : errno
    try Terminal.write(Self.end)
    if code != 0 { throw .failed(operation: "tcsetattr", code: code) }
  }

  deinit { try? close() }
}

/// Restores the terminal when a signal ends the process: a request to end, a timer, an exceeded limit or a fault. The handler
/// calls only functions that a signal handler may call: `write`, `tcsetattr`, `signal` and `raise`.
enum EmergencyExit {
  private static let ends = [
    SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM, SIGXCPU, SIGXFSZ, SIGSEGV, SIGBUS, SIGILL,
    SIGTRAP, SIGABRT, SIGFPE, SIGSYS,
  ]
  nonisolated(unsafe) private(set) static var isArmed = false
  nonisolated(unsafe) private static var modes = termios()
  nonisolated(unsafe) private static var sequence: [UInt8] = []
  /// The actions of the signals before `arm`, in the order of `ends`.
  nonisolated(unsafe) private static var replaced: [sigaction] = []

  static func arm(restoring modes: termios) {
    unsafe Self.modes = modes
    unsafe sequence = Array(FullScreen.end.utf8)
    // `arm` runs again when the process continues after a stop, so `replaced` keeps the actions from before the first call.
    if unsafe !isArmed { unsafe replaced = ends.map(action) }
    unsafe isArmed = true
    for end in ends {
      let before = signal(end) { number in
        EmergencyExit.restore()
        // With the default action, the raised signal ends the process after this handler, so the parent sees the right status.
        _ = signal(number, SIG_DFL)
        raise(number)
      }
      if TerminalSignals.isIgnored(before), end != SIGTERM { _ = signal(end, SIG_IGN) }
    }
  }

  static func disarm() {
    guard unsafe isArmed else { return }
    unsafe isArmed = false
    for (end, var action) in unsafe zip(ends, replaced) { _ = unsafe sigaction(end, &action, nil) }
  }

  private static func action(_ signal: Int32) -> sigaction {
    var action = sigaction()
    _ = unsafe sigaction(signal, nil, &action)
    return action
  }

  /// Restores the terminal if this process has the whole screen. A signal handler may call this function.
  static func restore() {
    guard unsafe isArmed else { return }
    _ = unsafe tcsetattr(STDIN_FILENO, TCSANOW, &modes)
    unsafe sequence.withUnsafeBufferPointer { bytes in
      _ = unsafe write(STDOUT_FILENO, bytes.baseAddress, bytes.count)
    }
  }
}
