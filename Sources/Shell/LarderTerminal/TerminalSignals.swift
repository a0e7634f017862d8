import Synchronization

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Counts the signals that a terminal sends. A pipe from this process to itself ends a wait for input when a signal comes. The
/// handler only does what a signal handler may do. The handler adds to a counter, and then writes a byte to the pipe or ends
/// the process. Without the byte, a wait could miss a signal that comes just before the wait or interrupts another thread.
enum TerminalSignals {
  typealias Counts = (
    interrupts: Int, resizes: Int, suspensions: Int, continuations: Int, terminations: Int
  )

  fileprivate static let interrupts = Atomic(0)
  private static let resizes = Atomic(0)
  private static let suspensions = Atomic(0)
  private static let continuations = Atomic(0)
  private static let terminations = Atomic(0)
  private static let selfPipeReader = Atomic<Int32>(-1)
  private static let selfPipeWriter = Atomic<Int32>(-1)

  static var counts: Counts {
    (
      interrupts.load(ordering: .relaxed), resizes.load(ordering: .relaxed),
      suspensions.load(ordering: .relaxed), continuations.load(ordering: .relaxed),
      terminations.load(ordering: .relaxed)
    )
  }

  /// After this number of interrupts without an answer, the process ends.
  private static let mostUnanswered = 3

  private static let isAttending = Atomic(false)

  /// Runs `body`, which waits for a program on the terminal. As with system(3), keys such as ^C are meant for this program.
  /// Interrupts are counted during this wait, but no number of interrupts ends this process.
  static func attendProgram<Result, Failure: Error>(
    _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    isAttending.store(true, ordering: .relaxed)
    let quit = signal(SIGQUIT, SIG_IGN)
    defer {
      _ = signal(SIGQUIT, quit)
      isAttending.store(false, ordering: .relaxed)
    }
    return try body()
  }

  /// The descriptor that a wait must also watch, so that a signal ends the wait. -1 before `Interrupts.install()`.
  static var selfPipe: Int32 { selfPipeReader.load(ordering: .relaxed) }

  /// Reads the bytes that the handler has written, so that the next wait does not end immediately.
  static func drainSelfPipe() {
    var bytes = [UInt8](repeating: 0, count: 64)
    while unsafe read(selfPipe, &bytes, bytes.count) == bytes.count {}
  }

  /// Begins to count changes of the window size, and continuations of the process after a stop.
  static func countChanges() {
    unblock([SIGWINCH, SIGCONT, SIGTSTP])
    _ = signal(SIGWINCH) { _ in TerminalSignals.note(SIGWINCH) }
    _ = signal(SIGCONT) { _ in TerminalSignals.note(SIGCONT) }
  }

  /// After this call, ^Z and `SIGTERM` are only counted, because the terminal is in a state that the shell should not get.
  static func deferTermination() {
    let previous = signal(SIGTSTP) { _ in TerminalSignals.note(SIGTSTP) }
    if isIgnored(previous) { _ = signal(SIGTSTP, SIG_IGN) }
    _ = signal(SIGTERM) { _ in TerminalSignals.note(SIGTERM) }
  }

  /// Ends the effect of ``deferTermination()``: after this call, ^Z stops the process, and `SIGTERM` ends the process.
  static func restoreTermination() {
    if isIgnored(signal(SIGTSTP, SIG_DFL)) { _ = signal(SIGTSTP, SIG_IGN) }
    _ = signal(SIGTERM, SIG_DFL)
  }

  /// Stops the process as ^Z does. Returns when the process continues.
  static func suspend() {
    restoreTermination()
    raise(SIGTSTP)
    deferTermination()
  }

  static func terminate() {
    restoreTermination()
    raise(SIGTERM)
  }

  fileprivate static func note(_ signal: Int32) {
    let before = errno
    switch signal {
    case SIGINT:
      interrupts.add(1, ordering: .relaxed)
      if Interrupts.pending >= mostUnanswered, !isAttending.load(ordering: .relaxed),
        !Interrupts.endures.load(ordering: .relaxed)
      {
        EmergencyExit.restore()
        _exit(130)
      }
    case SIGWINCH: resizes.add(1, ordering: .relaxed)
    case SIGTSTP: suspensions.add(1, ordering: .relaxed)
    case SIGTERM: terminations.add(1, ordering: .relaxed)
    default: continuations.add(1, ordering: .relaxed)
    }
    var byte: UInt8 = 0
    // An error is ignored, because a full pipe also ends the wait.
    _ = unsafe write(selfPipeWriter.load(ordering: .relaxed), &byte, 1)
    errno = before
  }

  fileprivate static func openSelfPipe() {
    var ends: [Int32] = [-1, -1]
    guard unsafe pipe(&ends) == 0 else { return }
    for end in ends {
      _ = fcntl(end, F_SETFD, FD_CLOEXEC)
      _ = fcntl(end, F_SETFL, O_NONBLOCK)
    }
    selfPipeWriter.store(ends[1], ordering: .relaxed)
    selfPipeReader.store(ends[0], ordering: .relaxed)
  }

  /// Unblocks signals. The parent may have blocked the signals, as `Process` of Foundation does on most threads.
  fileprivate static func unblock(_ signals: [Int32]) {
    var set = sigset_t()
    unsafe sigemptyset(&set)
    for signal in signals { unsafe sigaddset(&set, signal) }
    unsafe pthread_sigmask(SIG_UNBLOCK, &set, nil)
  }

  static func isIgnored(_ handler: (@convention(c) (Int32) -> Void)?) -> Bool {
    unsafe unsafeBitCast(handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
  }
}

/// Whether a person pressed ^C. Long-running code must ask this often, because ^C does not stop code by itself.
package enum Interrupts {
  private static let answered = Atomic(0)
  /// Whether this process continues after any number of interrupts.
  fileprivate static let endures = Atomic(false)

  fileprivate static var pending: Int {
    TerminalSignals.interrupts.load(ordering: .relaxed) - answered.load(ordering: .relaxed)
  }

  /// Begins to count ^C. After this call, a write to a closed pipe is an error that does not end the process. Call this
  /// function once, before anything else. A program that this process starts gets the default actions for SIGINT and SIGPIPE.
  /// Unless `endure()` was called, a third ^C without an answer ends the process, because the running code seems not to stop.
  /// If the parent ignored interrupts, as for a background job of a script, this process ignores interrupts, too.
  package static func install() {
    TerminalSignals.openSelfPipe()
    // `SIGTERM` must end the process, even if the parent ignored or blocked this signal: a thread that waits for a lock or a
    // pipe could not stop by itself. The end is no danger for a store, and the parent sees the status of the signal.
    _ = signal(SIGTERM, SIG_DFL)
    TerminalSignals.unblock([SIGINT, SIGPIPE, SIGTERM])
    let previous = signal(SIGINT) { _ in TerminalSignals.note(SIGINT) }
    if TerminalSignals.isIgnored(previous) { _ = signal(SIGINT, SIG_IGN) }
    // A program such as a pager would inherit an ignored signal from this process, but does not inherit a handler.
    _ = signal(SIGPIPE) { _ in }
  }

  /// After this call, no number of ^C ends the process. At a prompt, a person has other ways to leave.
  package static func endure() { endures.store(true, ordering: .relaxed) }

  /// Whether there is a ^C without an answer. A long command checks this wherever it can stop. A check is two atomic loads.
  package static var isPending: Bool { pending > 0 }

  /// Answers all interrupts. Call this function where an interrupt has stopped a command or a wait.
  package static func acknowledge() {
    answered.store(TerminalSignals.interrupts.load(ordering: .relaxed), ordering: .relaxed)
  }

  static func acknowledge(since count: Int) {
    answered.add(TerminalSignals.interrupts.load(ordering: .relaxed) - count, ordering: .relaxed)
  }

  /// Sleeps in short steps, because another thread may get the ^C. Returns false if ^C ended the sleep.
  package static func sleep(for duration: Duration) -> Bool {
    let end = ContinuousClock.now + duration
    while !isPending {
      let left = end - .now
      guard left > .zero else { return true }
      usleep(UInt32(min(left, .milliseconds(50)) / .microseconds(1)))
    }
    return false
  }
}
