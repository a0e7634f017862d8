import Dispatch
import Synchronization

/// A write as a value: everything that it needs to wait in the queue, share a transaction, and run again.
struct SharedWrite<Result: Sendable>: Sendable {
  var size = 0
  var mode = CommitMode.standard
  var body: @Sendable (inout WriteBatch) throws -> Result
  /// Makes the write in the write buffer; returns nil if only a transaction can make the write.
  private(set) var append: (@Sendable (StoreEngine) throws(LarderError) -> Result?)?

  init(
    size: Int = 0, mode: CommitMode = .standard,
    _ body: @escaping @Sendable (inout WriteBatch) throws -> Result
  ) {
    self.size = size
    self.mode = mode
    self.body = body
  }

  /// This write with `append`, which runs before a transaction is tried.
  func buffered(
    _ append: @escaping @Sendable (StoreEngine) throws(LarderError) -> Result?
  ) -> Self {
    var write = self
    write.append = append
    return write
  }
}

/// A write whose caller blocks a thread until the commit.
final class BlockedWrite<Result: Sendable>: QueuedWrite {
  private let write: SharedWrite<Result>
  private let outcome = Mutex<Swift.Result<Result, any Error>?>(nil)
  private let isDone = DispatchSemaphore(value: 0)

  init(_ write: SharedWrite<Result>) { self.write = write }

  var size: Int { write.size }
  var mode: CommitMode { write.mode }
  var isCancelled: Bool { false }

  func run(in batch: inout WriteBatch) throws {
    let result = try write.body(&batch)
    outcome.withLock { $0 = .success(result) }
  }

  func finish(_ error: (any Error)?) {
    if let error { outcome.withLock { $0 = .failure(error) } }
    isDone.signal()
  }

  /// Blocks the thread; false if the write is not finished after `milliseconds`.
  func wait(milliseconds: Int) -> Bool {
    isDone.wait(timeout: .now() + .milliseconds(milliseconds)) == .success
  }

  /// The result; only valid after ``finish(_:)``.
  var result: Result {
    // A write without an error has run.
    get throws { try outcome.withLock { $0! }.get() }
  }
}

/// A write whose caller is a task, suspended until the commit.
final class SuspendedWrite<Result: Sendable>: QueuedWrite {
  private let write: SharedWrite<Result>
  private let written = Mutex<Result?>(nil)
  private let continuation = Mutex<CheckedContinuation<Void, any Error>?>(nil)
  private let cancelled = Atomic(false)

  init(_ write: SharedWrite<Result>) { self.write = write }

  var size: Int { write.size }
  var mode: CommitMode { write.mode }
  var isCancelled: Bool { cancelled.load(ordering: .relaxed) }

  /// Sets the continuation before the write is queued.
  func begin(_ continuation: CheckedContinuation<Void, any Error>) {
    self.continuation.withLock { $0 = continuation }
  }

  func cancel() { cancelled.store(true, ordering: .relaxed) }

  func run(in batch: inout WriteBatch) throws {
    let result = try write.body(&batch)
    written.withLock { $0 = result }
  }

  func finish(_ error: (any Error)?) {
    guard let continuation = continuation.withLock({ $0.take() }) else { return }
    if let error { continuation.resume(throwing: error) } else { continuation.resume() }
  }

  /// The result; only valid after ``finish(_:)``.
  var result: Result { written.withLock { $0! } }
}
