import Synchronization

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Counts the signals that a terminal sends. A pipe of this process to itself wakes a wait for input at each signal.
///
/// A handler adds to a counter, and writes one byte to the pipe or ends the process; a signal handler may do all of this. The
/// byte makes the wake-up certain, also for a signal that comes just before the wait or interrupts another thread.
enum TerminalSignals {
  struct Counts: Equatable {
    var interrupts = 0
    var resizes = 0
    var suspensions = 0
    var continuations = 0
    var terminations = 0
  }

  fileprivate static let interrupts = Atomic(0)
  private static let resizes = Atomic(0)
  private static let suspensions = Atomic(0)
  private static let continuations = Atomic(0)
  private static let terminations = Atomic(0)
  private static let selfPipeReader = Atomic<Int32>(-1)
  private static let selfPipeWriter = Atomic<Int32>(-1)

  static var counts: Counts {
    Counts(
      interrupts: interrupts.load(ordering: .relaxed),
      resizes: resizes.load(ordering: .relaxed),
      suspensions: suspensions.load(ordering: .relaxed),
      continuations: continuations.load(ordering: .relaxed),
      terminations: terminations.load(ordering: .relaxed))
  }

  /// The number of unanswered interrupts at which the process ends.
  private static let mostUnanswered = 3

  /// Whether this process waits for a program that has the terminal.
  private static let isAttending = Atomic(false)

  /// Runs `body`, which waits for a program on the terminal. The keys that send signals are for that program, as in system(3).
  ///
  /// Interrupts are counted, but no number of them ends this process.
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

  /// The descriptor to wait on, after `openSelfPipe()`.
  static var selfPipe: Int32? {
    let descriptor = selfPipeReader.load(ordering: .relaxed)
    return descriptor < 0 ? nil : descriptor
  }

  /// Reads the bytes that signals have written, so that a wait for the next signal can begin.
  static func drainSelfPipe() {
    guard let selfPipe else { return }
    var bytes = [UInt8](repeating: 0, count: 64)
    while unsafe read(selfPipe, &bytes, bytes.count) == bytes.count {}
  }

  /// Counts changes of the window's size, and continuations of the process, from now on.
  static func countChanges() {
    openSelfPipe()
    unblock([SIGWINCH, SIGCONT, SIGTSTP])
    _ = signal(SIGWINCH) { _ in TerminalSignals.note(SIGWINCH) }
    _ = signal(SIGCONT) { _ in TerminalSignals.note(SIGCONT) }
  }

  /// Counts ^Z and `SIGTERM` without obeying them, while the terminal is in a state that a shell should not see.
  static func deferTermination() {
    let previous = signal(SIGTSTP) { _ in TerminalSignals.note(SIGTSTP) }
    if isIgnored(previous) { _ = signal(SIGTSTP, SIG_IGN) }
    _ = signal(SIGTERM) { _ in TerminalSignals.note(SIGTERM) }
  }

  /// From now on ^Z stops the process again, and `SIGTERM` ends the process again.
  static func restoreTermination() {
    let previous = signal(SIGTSTP, SIG_DFL)
    if isIgnored(previous) { _ = signal(SIGTSTP, SIG_IGN) }
    _ = signal(SIGTERM, SIG_DFL)
  }

  /// Stops the process as ^Z does, and returns when the process continues.
  static func suspend() {
    restoreTermination()
    raise(SIGTSTP)
    deferTermination()
  }

  /// Ends the process as `SIGTERM` does.
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
    _ = unsafe write(selfPipeWriter.load(ordering: .relaxed), &byte, 1)  // a full pipe wakes, too
    errno = before
  }

  fileprivate static func openSelfPipe() {
    guard selfPipe == nil else { return }
    var ends: [Int32] = [-1, -1]
    guard unsafe pipe(&ends) == 0 else { return }
    for end in ends {
      _ = fcntl(end, F_SETFD, FD_CLOEXEC)
      _ = fcntl(end, F_SETFL, O_NONBLOCK)
    }
    selfPipeWriter.store(ends[1], ordering: .relaxed)
    selfPipeReader.store(ends[0], ordering: .relaxed)
  }

  /// Unblocks signals. A parent may have blocked them, as Foundation's `Process` does from most threads.
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

/// Whether ^C was pressed. Code that does not look here is not stopped by ^C.
package enum Interrupts {
  private static let answered = Atomic(0)
  /// Whether this process survives any number of interrupts.
  fileprivate static let endures = Atomic(false)

  fileprivate static var pending: Int {
    TerminalSignals.interrupts.load(ordering: .relaxed) - answered.load(ordering: .relaxed)
  }

  /// Counts ^C from now on, and lets writes to a closed pipe fail instead of ending the process.
  ///
  /// Call this function once, before anything else. A program that this process starts has the usual actions for SIGINT and
  /// SIGPIPE. A third unanswered ^C ends the process unless `endure()` was called: the running code reaches no point at which
  /// it stops. A process that was started with interrupts ignored, such as a background job of a script, still ignores them.
  package static func install() {
    TerminalSignals.openSelfPipe()
    // `SIGTERM` ends the process at once and with the signal's own status, even if the signal was ignored or blocked. That does
    // no harm to a store, and a thread that waits for a lock or a pipe could not stop by itself.
    _ = signal(SIGTERM, SIG_DFL)
    TerminalSignals.unblock([SIGINT, SIGPIPE, SIGTERM])
    let previous = signal(SIGINT) { _ in TerminalSignals.note(SIGINT) }
    if TerminalSignals.isIgnored(previous) { _ = signal(SIGINT, SIG_IGN) }
    // A program that this process starts, such as a pager, would inherit an ignored signal, but inherits no handler.
    _ = signal(SIGPIPE) { _ in }
  }

  /// From now on no number of ^C ends the process: a person at a prompt has other ways to leave.
  package static func endure() { endures.store(true, ordering: .relaxed) }

  /// Whether there is an unanswered ^C. A long command looks here at each point where it can stop; a look costs two loads.
  package static var isPending: Bool { pending > 0 }

  /// Answers all interrupts. Call this function where code stops because of an interrupt.
  package static func acknowledge() {
    answered.store(TerminalSignals.interrupts.load(ordering: .relaxed), ordering: .relaxed)
  }

  static func acknowledge(since count: Int) {
    answered.add(TerminalSignals.interrupts.load(ordering: .relaxed) - count, ordering: .relaxed)
  }

  /// Sleeps in short steps, because ^C may arrive on another thread; false if ^C ended the sleep.
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
