import Synchronization

/// A write as a value, so that the write can wait in the queue, share a transaction with other writes, and run again.
struct SharedWrite<Result: Sendable>: Sendable {
  var size = 0
  var mode = CommitMode.standard
  var body: @Sendable (inout WriteBatch) throws -> Result
  /// Makes the write in the write buffer. Returns nil if only a transaction can make the write; the engine then runs `body`.
  var append: (@Sendable (StoreEngine) throws(LarderError) -> Result?)?
}

/// A write whose caller waits for the commit: a blocked thread or a suspended task.
final class CallerWrite<Result: Sendable>: QueuedWrite {
  private let write: SharedWrite<Result>
  private let outcome = Mutex<Swift.Result<Result, any Error>?>(nil)
  private let resume = Mutex<(@Sendable () -> Void)?>(nil)
  private let cancelled = Atomic(false)

  init(_ write: SharedWrite<Result>) { self.write = write }

  var size: Int { write.size }
  var mode: CommitMode { write.mode }
  var isCancelled: Bool { cancelled.load(ordering: .relaxed) }

  /// Must be called before the write joins the queue.
  func begin(_ resume: @escaping @Sendable () -> Void) { self.resume.withLock { $0 = resume } }

  func cancel() { cancelled.store(true, ordering: .relaxed) }

  func run(in batch: inout WriteBatch) throws {
    let result = try write.body(&batch)
    outcome.withLock { $0 = .success(result) }
  }

  func finish(_ error: (any Error)?) {
    guard let resume = resume.withLock({ $0.take() }) else { return }
    if let error { outcome.withLock { $0 = .failure(error) } }
    resume()
  }

  var result: Result {
    // `outcome` is not nil: the write has set it while running, or ``finish(_:)`` has set it to the error.
    get throws { try outcome.withLock { $0! }.get() }
  }
}
