/// Whether ^C was pressed: nothing is ended by it unless it looks here.
package enum Interrupts {
  /// Notes ^C from now on, and lets writing to a closed pipe fail instead of ending the process.
  ///
  /// Called once, first thing. A program started by this one has both as usual. A third ^C without an answer
  /// ends the process after all: what runs then does not come to a resting place. `SIGTERM` ends it at once, also if
  /// it was started with that ignored or blocked.
  package static func install() {
    TerminalSignals.countInterrupts()
    TerminalSignals.obeyTerminations()
  }

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
