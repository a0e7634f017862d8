import Synchronization

/// Whether ^C was pressed: nothing is ended by it unless it looks here.
package enum Interrupts {
  private static let acknowledged = Atomic(0)

  /// Notes ^C from now on, and lets writing to a closed pipe fail instead of ending the process.
  ///
  /// Called once, first thing. A program started by this one has both as usual.
  package static func install() { TerminalSignals.countInterrupts() }

  /// Whether there was one that nobody has answered yet.
  ///
  /// A long command looks at each of its resting places, and a script after each of its commands. Cheap: two loads.
  package static var isPending: Bool {
    TerminalSignals.counts.interrupts != acknowledged.load(ordering: .relaxed)
  }

  /// Answers all there were: whoever stops on account of one calls this.
  package static func acknowledge() {
    acknowledged.store(TerminalSignals.counts.interrupts, ordering: .relaxed)
  }
}
