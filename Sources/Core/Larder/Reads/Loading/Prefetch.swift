import LarderSystem
import Synchronization

/// Runs loads before any caller asks for their values, and reports the progress.
///
/// The loads run until every key is done, ``cancel()`` is called, or the task that iterates is cancelled. The steps can be
/// iterated only once. The loads run even if nobody iterates.
public final class Prefetch<Key: Sendable>: AsyncSequence, Sendable {
  /// The result for one key.
  public struct Step: Sendable {
    /// The outcome of the load of a key.
    public enum Outcome: Sendable {
      /// No load was needed: a fresh value or a fresh negative entry was stored already.
      case present
      /// The value was loaded.
      case loaded
      /// The load failed with this error.
      case failed(any Error)
    }
    /// The key.
    public var key: Key
    /// The outcome of the key's load.
    public var outcome: Outcome
    /// The number of finished keys, including this key.
    public var done: Int
    /// The total number of keys.
    public var total: Int
  }

  /// The numbers of keys with each outcome.
  public struct Summary: Sendable, Hashable {
    /// Keys that already were fresh.
    public internal(set) var present = 0
    /// Keys that were loaded.
    public internal(set) var loaded = 0
    /// Keys whose load failed.
    public internal(set) var failed = 0
    /// Keys whose load did not begin, because the prefetch was cancelled.
    public internal(set) var remaining = 0
  }

  private let steps: AsyncStream<Step>
  private let task: Task<Summary, Never>

  /// Runs loads of any kind. For a cache use ``Cache/prefetch(_:options:concurrency:pause:priority:load:)``. Throws
  /// ``LarderError/Code/invalidArgument`` for a concurrency below 1.
  ///
  /// - Parameters:
  ///   - concurrency: the number of concurrent loads, 1 or more.
  ///   - clock: the clock for the pauses, usually the clock of the store.
  ///   - pause: gets the number of finished keys, and returns how long a concurrent task waits before its next load. After a
  ///     key that was present, the task does not wait.
  ///   - load: returns the outcome of the key. An error of `load` becomes the outcome, too.
  public convenience init(
    _ keys: some Sequence<Key>, concurrency: Int = 2, clock: any LarderClock = SystemClock(),
    priority: TaskPriority? = .utility, pause: @escaping @Sendable (Int) -> Duration,
    load: @escaping @Sendable (Key) async throws -> Step.Outcome
  ) throws(LarderError) {
    try self.init(
      keys, batch: 1, concurrency: concurrency, clock: clock, priority: priority, pause: pause
    ) { keys in [try await load(keys[0])] }
  }

  /// - Parameter load: returns an outcome for each key of a batch. An error of `load` is the outcome of each key of the batch.
  init(
    _ keys: some Sequence<Key>, batch: Int, concurrency: Int, clock: any LarderClock,
    priority: TaskPriority?, pause: @escaping @Sendable (Int) -> Duration,
    load: @escaping @Sendable ([Key]) async throws -> [Step.Outcome]
  ) throws(LarderError) {
    guard concurrency >= 1, batch >= 1 else {
      throw .impossible(
        "a prefetch of \(concurrency) loads at a time with \(batch) keys each",
        hint: "pass a concurrency of 1 or more, and batches of 1 key or more")
    }
    let keys = Array(keys)
    let (steps, continuation) = AsyncStream<Step>.makeStream()
    self.steps = steps
    task = Task(priority: priority) {
      await withTaskGroup(of: [(Key, Step.Outcome)].self) { group in
        var rest = keys[...]
        var running = 0
        var summary = Summary()
        summary.remaining = keys.count
        while true {
          while running < concurrency, !rest.isEmpty, !Task.isCancelled {
            let next = Array(rest.prefix(batch))
            rest.removeFirst(next.count)
            running += 1
            group.addTask {
              if Task.isCancelled { return [] }
              do { return Array(zip(next, try await load(next))) } catch {
                return next.map { ($0, .failed(error)) }
              }
            }
          }
          guard let finished = await group.next() else { break }
          running -= 1
          let present = summary.present
          for (key, outcome) in finished {
            summary.remaining -= 1
            switch outcome {
            case .present: summary.present += 1
            case .loaded: summary.loaded += 1
            case .failed: summary.failed += 1
            }
            let done = keys.count - summary.remaining
            continuation.yield(Step(key: key, outcome: outcome, done: done, total: keys.count))
          }
          if summary.present - present == finished.count { continue }
          let pause = pause(keys.count - summary.remaining)
          guard pause > .zero, !rest.isEmpty else { continue }
          // A pause occupies the place of a running load, so the loads begin in the order of the keys.
          running += 1
          let end = clock.monotonic + pause.bounded
          group.addTask {
            try? await clock.sleep(until: end)
            return []
          }
        }
        // Keeps the stream until here, because a stream that nobody holds would cancel the task.
        withExtendedLifetime(steps) { continuation.finish() }
        return summary
      }
    }
    continuation.onTermination = { [task] reason in if case .cancelled = reason { task.cancel() } }
  }

  /// The steps, in the order in which keys finish.
  public func makeAsyncIterator() -> AsyncStream<Step>.Iterator { steps.makeAsyncIterator() }

  /// Starts no further loads, and cancels running loads for which only the prefetch waits.
  public func cancel() { task.cancel() }

  /// Waits until every key is done or the prefetch is cancelled. Returns the numbers of keys by outcome.
  public func finish() async -> Summary { await task.value }
}

extension Cache {
  /// Loads the values that are not fresh, in the order of the keys, before any caller asks for these values.
  ///
  /// A step is done when its value is committed. A caller that asks for a key during its load shares the load. A key with a
  /// stored negative entry counts as present, and a key for which the load finds no value counts as loaded. Throws
  /// ``LarderError/Code/invalidArgument`` for a concurrency below 1.
  ///
  /// - Parameters:
  ///   - concurrency: the number of concurrent loads, 1 or more.
  ///   - pause: how long, by the store's clock, each of the concurrent tasks waits before its next load.
  ///   - load: loads the value of a key. Gets the stored value of the key.
  public func prefetch<Name: StoreKey & Sendable>(
    _ keys: some Sequence<Name>, options: LoadOptions = LoadOptions(), concurrency: Int = 2,
    pause: Duration = .zero, priority: TaskPriority? = .utility,
    load: @escaping @Sendable (Name, CachedValue<Value>?) async throws -> Loaded<Value>
  ) throws(LarderError) -> Prefetch<Name> {
    try prefetch(
      keys, inBatchesOf: 1, options: options, concurrency: concurrency, pause: pause,
      priority: priority
    ) { missing in [(missing[0].key, try await load(missing[0].key, missing[0].stored))] }
  }

  /// Like `prefetch`, but one call of `load` loads many keys; see ``results(for:options:load:)``.
  ///
  /// - Parameters:
  ///   - batch: the largest number of keys in one call of `load`, 1 or more.
  ///   - concurrency: the number of concurrent calls, 1 or more.
  public func prefetch<Name: StoreKey & Sendable>(
    _ keys: some Sequence<Name>, inBatchesOf batch: Int, options: LoadOptions = LoadOptions(),
    concurrency: Int = 1, pause: Duration = .zero, priority: TaskPriority? = .utility,
    load:
      @escaping @Sendable ([(key: Name, stored: CachedValue<Value>?)]) async throws -> [(
        Name, Loaded<Value>
      )]
  ) throws(LarderError) -> Prefetch<Name> {
    var options = options
    if options.policy == .cacheElseLoad { options.policy = .standard }
    options.requiresFresh = true
    options.waitsForCommit = true
    return try Prefetch(
      keys, batch: batch, concurrency: concurrency, clock: namespace.engine.clock,
      priority: priority, pause: { _ in pause },
      load: { [options] keys in
        let asked = Mutex<Set<Key>>([])
        let results = try await results(for: keys, options: options) { missing in
          asked.withLock { $0.formUnion(missing.map { Key($0.key) }) }
          return try await load(missing)
        }
        return zip(keys, results).map { key, result in
          do {
            let result = try result.get()
            if let error = result?.error { throw error }
            let isAsked = asked.withLock { $0.contains(Key(key)) }
            return isAsked || result?.source == .loaded ? .loaded : .present
          } catch { return .failed(error) }
        }
      })
  }
}
