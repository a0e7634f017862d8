import Dispatch
import LMDB
import Synchronization

/// A write of a group that has spoiled the transaction for the others.
private struct TransactionPoisoned: Error {
  var index: Int
}

/// A task was cancelled whose write was in the transaction already.
private struct Cancelled: Error {}

extension StoreEngine {
  /// Writes a group in the order in which it came, in one transaction if that can be, and tells each of its members how
  /// its own write went.
  ///
  /// A member that fails before it has changed anything is merely left out. One that fails midway spoils the transaction:
  /// those before it are then written without it, it by itself, and those after it in a transaction of their own.
  func write(_ group: [WriteQueue.Job]) {
    var rest = group[...]
    while rest.count > 1 {
      guard let index = writeTogether(Array(rest)) else { return }
      let spoiler = rest.startIndex + index
      write(Array(rest[..<spoiler]))
      writeAlone(rest[spoiler])
      rest = rest[(spoiler + 1)...]
    }
    if let last = rest.first { writeAlone(last) }
  }

  /// - Returns: which member has spoiled the transaction, of which nothing was written then; nil if all were told.
  private func writeTogether(_ members: [WriteQueue.Job]) -> Int? {
    var failures: [Int: any Error] = [:]
    do {
      try writeWithinLimit(repeats: true) { batch in
        failures = [:]
        for (index, member) in members.enumerated() {
          let before = batch.mutations
          do {
            try member.ticket.check()
            try member.body(&batch)
          } catch {
            if batch.failure != nil || batch.mutations != before {
              throw TransactionPoisoned(index: index)
            }
            failures[index] = error
          }
        }
        for (index, member) in members.enumerated() where failures[index] == nil {
          if member.ticket.isCancelled { throw Cancelled() }
        }
      }
      for (index, member) in members.enumerated() { member.finish(failures[index]) }
    } catch let error as TransactionPoisoned {
      return error.index
    } catch is Cancelled {
      write(withdrawing(members))
    } catch let error as LarderError where error.concernsAll {
      for member in members { member.finish(error) }
    } catch {
      // There may be room for each.
      for member in members { writeAlone(member) }
    }
    return nil
  }

  /// Those of the members whose tasks are not cancelled; the others are told.
  private func withdrawing(_ members: [WriteQueue.Job]) -> [WriteQueue.Job] {
    members.filter { member in
      guard member.ticket.isCancelled else { return true }
      member.finish(CancellationError())
      return false
    }
  }

  private func writeAlone(_ member: WriteQueue.Job) {
    do {
      try writeWithinLimit(repeats: true) { batch in
        try member.ticket.check()
        try member.body(&batch)
        try member.ticket.check()
      }
      member.finish(nil)
    } catch {
      member.finish((error as? LMDBError).map(self.error) ?? error)
    }
  }

  /// One write that shares a commit with those that come at the same time; the caller is suspended meanwhile.
  ///
  /// A task that is cancelled before the commit begins gets a `CancellationError`, and nothing is written.
  func submit<Result: Sendable>(_ write: SharedWrite<Result>) async throws -> Result {
    // A store that is closed, or a parent's, says so itself.
    if !environment.isOpen { return try self.write(write.body) }
    let outcome = Outcome<Result>()
    let ticket = WriteQueue.Ticket()
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation {
        (continuation: CheckedContinuation<Void, any Error>) in
        let job = WriteQueue.Job(
          ticket: ticket, size: write.size, body: { batch in outcome.set(try write.body(&batch)) },
          finish: { error in
            if let error { continuation.resume(throwing: error) } else { continuation.resume() }
          })
        if !queue.add(job, engine: self) { continuation.resume(throwing: closedError) }
      }
    } onCancel: {
      queue.cancel(ticket)
    }
    return outcome.value
  }

  /// One write by a caller that waits: at once if nobody else writes, otherwise together with those that do.
  func writeJoining<Result: Sendable>(
    _ write: SharedWrite<Result>
  ) throws -> Result {
    if environment.isWriting || !environment.isOpen || !queue.isBusy {
      queue.beginDirectWrite()
      defer { queue.endDirectWrite() }
      return try writeWithinLimit(repeats: true, write.body)
    }
    let outcome = Outcome<Result>()
    let failure = Mutex<(any Error)?>(nil)
    let done = DispatchSemaphore(value: 0)
    let job = WriteQueue.Job(
      ticket: WriteQueue.Ticket(), size: write.size,
      body: { batch in outcome.set(try write.body(&batch)) },
      finish: { error in
        failure.withLock { $0 = error }
        done.signal()
      })
    guard queue.add(job, engine: self) else { throw closedError }
    done.wait()
    if let error = failure.withLock({ $0 }) { throw error }
    return outcome.value
  }

  private var closedError: LarderError { error(.closed) }
}

/// A write that can share a transaction with others: it holds all it needs, and may run several times.
struct SharedWrite<Result: Sendable>: Sendable {
  /// About how many bytes it writes.
  var size = 0
  var body: @Sendable (inout WriteBatch) throws -> Result
}

extension LarderError {
  /// Whether each write of a group would fail in the same way, perhaps after waiting as long.
  fileprivate var concernsAll: Bool { [.busy, .closed, .forked].contains(code) }
}

/// What a write came to, set by the thread that wrote it.
private final class Outcome<Value: Sendable>: Sendable {
  private let stored = Mutex<Value?>(nil)

  func set(_ value: Value) { stored.withLock { $0 = value } }
  /// Set, because the write has succeeded.
  var value: Value { stored.withLock { $0! } }
}
