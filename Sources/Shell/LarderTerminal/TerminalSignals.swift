import Synchronization

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Counts the signals a terminal sends, and wakes a wait for input by a pipe to this process itself.
///
/// A handler only adds to a counter and writes one byte to a pipe, both of which are allowed there.
/// The byte makes the wake-up certain: a signal between looking and waiting would otherwise be slept over,
/// and it may be another thread that the signal interrupts.
enum TerminalSignals {
  struct Counts: Equatable {
    var interrupts = 0
    var resizes = 0
    var suspensions = 0
    var continuations = 0
    var terminations = 0
  }

  private static let interrupts = Atomic(0)
  private static let answered = Atomic(0)
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

  /// After so many unanswered interrupts the process ends.
  private static let mostUnanswered = 3

  static var pendingInterrupts: Int {
    interrupts.load(ordering: .relaxed) - answered.load(ordering: .relaxed)
  }

  static func answerInterrupts() {
    answered.store(interrupts.load(ordering: .relaxed), ordering: .relaxed)
  }

  /// No number of interrupts ends this process.
  static let endures = Atomic(false)

  /// A program has the terminal, and this process waits for it.
  private static let isAttending = Atomic(false)

  /// Waits for a program on the terminal: the keys that send signals are for that program, as in system(3).
  ///
  /// Interrupts are counted, but do not end this process however many they are.
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

  /// Answers the interrupts since a count of them.
  static func answerInterrupts(since count: Int) {
    answered.add(interrupts.load(ordering: .relaxed) - count, ordering: .relaxed)
  }

  /// The descriptor to wait on after `openSelfPipe()`.
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

  /// Counts interrupts from now on, and lets writes to a closed pipe fail instead of ending the process.
  ///
  /// A process that was started with interrupts ignored (in the background of a script) goes on ignoring them.
  /// `SIGPIPE` gets a handler that does nothing rather than being ignored, since a program started by this one,
  /// a pager, would inherit the latter.
  static func countInterrupts() {
    openSelfPipe()
    unblock([SIGINT, SIGPIPE])
    let previous = signal(SIGINT) { _ in TerminalSignals.note(SIGINT) }
    if isIgnored(previous) { _ = signal(SIGINT, SIG_IGN) }
    _ = signal(SIGPIPE) { _ in }
  }

  /// Lets `SIGTERM` end the process, even if the parent process has made it ignored.
  ///
  /// The signal ends the process at once and with its own status. It does no harm to a store, and a thread that waits for a
  /// lock or a pipe could not stop by itself.
  static func resetTermination() {
    _ = signal(SIGTERM, SIG_DFL)
    unblock([SIGTERM])
  }

  /// Counts changes of the window and continuations from now on.
  static func countChanges() {
    openSelfPipe()
    unblock([SIGWINCH, SIGCONT, SIGTSTP])
    _ = signal(SIGWINCH) { _ in TerminalSignals.note(SIGWINCH) }
    _ = signal(SIGCONT) { _ in TerminalSignals.note(SIGCONT) }
  }

  /// Counts ^Z and `SIGTERM` instead of obeying at once, while the terminal is in a state a shell should not see.
  static func deferTermination() {
    let previous = signal(SIGTSTP) { _ in TerminalSignals.note(SIGTSTP) }
    if isIgnored(previous) { _ = signal(SIGTSTP, SIG_IGN) }
    _ = signal(SIGTERM) { _ in TerminalSignals.note(SIGTERM) }
  }

  /// Lets ^Z stop and `SIGTERM` end the process again.
  static func restoreTermination() {
    let previous = signal(SIGTSTP, SIG_DFL)
    if isIgnored(previous) { _ = signal(SIGTSTP, SIG_IGN) }
    _ = signal(SIGTERM, SIG_DFL)
  }

  /// Stops the process as ^Z would have, and returns when it is continued.
  static func suspend() {
    restoreTermination()
    raise(SIGTSTP)
    deferTermination()
  }

  /// Ends the process as `SIGTERM` would have.
  static func terminate() {
    restoreTermination()
    raise(SIGTERM)
  }

  private static func note(_ signal: Int32) {
    let before = errno
    switch signal {
    case SIGINT:
      interrupts.add(1, ordering: .relaxed)
      if pendingInterrupts >= mostUnanswered, !isAttending.load(ordering: .relaxed),
        !endures.load(ordering: .relaxed)
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
    _ = unsafe write(selfPipeWriter.load(ordering: .relaxed), &byte, 1)  // a full one wakes already
    errno = before
  }

  private static func openSelfPipe() {
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

  /// A parent may have started this process with signals blocked, as Foundation's `Process` does from most threads.
  private static func unblock(_ signals: [Int32]) {
    var set = sigset_t()
    unsafe sigemptyset(&set)
    for signal in signals { unsafe sigaddset(&set, signal) }
    unsafe pthread_sigmask(SIG_UNBLOCK, &set, nil)
  }

  static func isIgnored(_ handler: (@convention(c) (Int32) -> Void)?) -> Bool {
    unsafe unsafeBitCast(handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
  }
}

/// Whether ^C was pressed: nothing is ended by it unless it looks here.
package enum Interrupts {
  /// Notes ^C from now on, and lets writing to a closed pipe fail instead of ending the process.
  ///
  /// Called once, first thing. A program started by this one has both as usual. A third ^C without an answer
  /// ends the process after all: what runs then does not come to a resting place. `SIGTERM` ends it at once, also if
  /// it was started with that ignored or blocked.
  package static func install() {
    TerminalSignals.countInterrupts()
    TerminalSignals.resetTermination()
  }

  /// No number of ^C ends the process from now on: a person at a prompt leaves it otherwise.
  package static func endure() { TerminalSignals.endures.store(true, ordering: .relaxed) }

  /// There is an unanswered interrupt.
  ///
  /// A long command looks at each of its resting places, and a script after each of its commands. Cheap: two loads.
  package static var isPending: Bool {
    TerminalSignals.pendingInterrupts > 0
  }

  /// Answers all interrupts; code that stops because of one calls this.
  package static func acknowledge() {
    TerminalSignals.answerInterrupts()
  }
}
