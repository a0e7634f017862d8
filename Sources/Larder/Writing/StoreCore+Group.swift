import Dispatch
import LMDB
import Synchronization

/// A write of a group that cannot stay in the group's transaction.
private struct Expelled: Error {
  var index: Int
  var cause: any Error
}

extension StoreCore {
  /// Writes a group in one transaction, and tells each of its members how that went.
  ///
  /// A member that fails before it has changed anything is merely left out. One that fails midway spoils the transaction,
  /// which then is made anew without it. If the transaction as a whole fails, each member is written by itself.
  func write(_ group: [WriteQueue.Job]) {
    var members = group
    while !members.isEmpty {
      var failures: [Int: any Error] = [:]
      do {
        try writeWithinLimit(repeats: true) { batch in
          failures = [:]
          for (index, member) in members.enumerated() {
            let before = batch.state
            do {
              try member.body(&batch)
            } catch {
              if batch.failure != nil || batch.state != before {
                throw Expelled(index: index, cause: error)
              }
              failures[index] = error
            }
          }
        }
        for (index, member) in members.enumerated() { member.finish(failures[index]) }
        return
      } catch let error as Expelled where members.count > 1 {
        // By itself it has a transaction to itself, and may yet succeed.
        write([members.remove(at: error.index)])
      } catch {
        if members.count == 1 {
          let cause = (error as? Expelled)?.cause ?? error
          members[0].finish((cause as? LMDBError).map(self.error) ?? cause)
        } else {
          for member in members { write([member]) }
        }
        return
      }
    }
  }

  /// One write that shares a commit with those that come at the same time; the caller is suspended meanwhile.
  ///
  /// A task that is cancelled before its write has begun gets a `CancellationError`, and nothing is written.
  func submit<Result: Sendable>(_ write: SharedWrite<Result>) async throws -> Result {
    // A store that is closed, or a parent's, says so itself.
    if !environment.isOpen { return try self.write(write.body) }
    let outcome = Outcome<Result>()
    let number = queue.nextNumber()
    try await withTaskCancellationHandler {
      try Task.checkCancellation()
      try await withCheckedThrowingContinuation {
        (continuation: CheckedContinuation<Void, any Error>) in
        let job = WriteQueue.Job(
          number: number, size: write.size, body: { batch in outcome.set(try write.body(&batch)) },
          finish: { error in
            if let error { continuation.resume(throwing: error) } else { continuation.resume() }
          })
        if !queue.add(job, core: self) { continuation.resume(throwing: closedError) }
      }
    } onCancel: {
      queue.cancel(number)
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
      number: queue.nextNumber(), size: write.size,
      body: { batch in outcome.set(try write.body(&batch)) },
      finish: { error in
        failure.withLock { $0 = error }
        done.signal()
      })
    guard queue.add(job, core: self) else { throw closedError }
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
  var body: @Sendable (inout Batch) throws -> Result
}

/// What a write came to, set by the thread that wrote it.
private final class Outcome<Value: Sendable>: Sendable {
  private let stored = Mutex<Value?>(nil)

  func set(_ value: Value) { stored.withLock { $0 = value } }
  /// Set, because the write has succeeded.
  var value: Value { stored.withLock { $0! } }
}
