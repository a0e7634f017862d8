import LMDB
import Synchronization

extension StoreEngine {
  /// Writes what waits: uses that reads have met, removals they asked for and the counts of reads.
  ///
  /// For the removals one write is enough: it takes all that were asked for before it, and those that another write has
  /// taken are committed before it begins.
  func flush(waitingAtMost bound: Duration? = nil) throws(LarderError) {
    try flushAccessTimes(waitingAtMost: bound)
    if !removals.isEmpty {
      try write(waitingAtMost: bound) { batch in
        try batch.removeQueued(limit: PendingExpirations.capacity)
      }
    } else if allHandles.contains(where: { $0.unmerged() != ReadCounters() }) {
      try write(waitingAtMost: bound) { _ in }
    }
  }

  /// How long letting go of the last handle waits for other writers.
  static let lastPatience = Duration.milliseconds(100)

  /// What ``close()`` would write, for a store that is let go of without it.
  func flushLast() {
    guard isWritable.load(ordering: .relaxed), environment.isOpen, !environment.isWriting else {
      return
    }
    do throws(LarderError) {
      try flush(waitingAtMost: Self.lastPatience)
    } catch {
      // There is nobody left to tell: what waited is lost as if the process had been killed, and the store is sound.
    }
  }

  func close() throws(LarderError) {
    guard environment.isOpen else { return }
    try checkNotWriting("closing")
    // What was accepted is written before anything is let go of.
    queue.close()
    changes.close()
    var isReleased = false
    do {
      defer {
        isReleased = environment.close()
        memory.removeAll()
      }
      if isWritable.load(ordering: .relaxed) { try flush() }
    }
    if !isReleased {
      throw LarderError(
        .busy, "\(environment.path) is closed, but a read of it does not end",
        hint: "end the read; the store's files are let go of then")
    }
  }

  func checkNotWriting(_ what: String) throws(LarderError) {
    guard environment.isWriting else { return }
    throw LarderError(
      .insideWrite, "\(environment.path): \(what) the store inside one of its own writes",
      hint: "do it when the write has returned")
  }

  /// Counting and statistics first see to the removals this process has queued; inside a write, that write does.
  func settle(_ store: Store) throws(LarderError) {
    if !store.isReadOnly, !removals.isEmpty, !environment.isWriting { try flush() }
  }
}
