import LarderSystem
import Synchronization

/// Loads that run before any caller asks for their values, and their progress.
///
///     for await step in try boards.prefetch(favourites, pause: .milliseconds(200), load: board) {
///       print("\(step.done) of \(step.total)")
///     }
///
/// The loads run until every key is done or the prefetch is cancelled: by ``cancel()``, or by cancelling the task that
/// iterates. The steps can be iterated once; the loads run whether or not they are.
public final class Prefetch<Key: Sendable>: AsyncSequence, Sendable {
  /// One key that is done.
  public struct Step: Sendable {
    /// How the load of a key ended.
    public enum Outcome: Sendable {
      /// Nothing was loaded: a fresh value or a fresh negative entry was stored already.
      case present
      /// The value was loaded.
      case loaded
      /// The load failed with this error.
      case failed(any Error)
    }
    /// The key.
    public var key: Key
    /// How its load ended.
    public var outcome: Outcome
    /// The number of keys that are done, including this one.
    public var done: Int
    /// The number of all keys.
    public var total: Int
  }

  /// The number of keys by outcome.
  public struct Summary: Sendable, Hashable {
    /// Keys that were fresh already.
    public internal(set) var present = 0
    /// Keys that were loaded.
    public internal(set) var loaded = 0
    /// Keys whose load failed.
    public internal(set) var failed = 0
    /// Keys that were not tried because the prefetch was cancelled.
    public internal(set) var remaining = 0
  }

  private let steps: AsyncStream<Step>
  private let task: Task<Summary, Never>

  /// Runs loads of any kind; ``Cache/prefetch(_:options:concurrency:pause:priority:load:)`` is the usual way.
  ///
  /// Throws ``LarderError/Code/invalidArgument`` for a concurrency below 1.
  ///
  /// - Parameters:
  ///   - concurrency: how many loads run at a time, 1 or more.
  ///   - clock: the clock that pauses are measured by, usually that of the store.
  ///   - pause: how long each of the concurrent loads waits before the next one, given how many keys are done. A key that was
  ///     present needs no pause.
  ///   - load: returns whether there was anything to load. An error it throws is the outcome of that key.
  public init(
    _ keys: some Sequence<Key>, concurrency: Int = 2, clock: any LarderClock = SystemClock(),
    priority: TaskPriority? = .utility, pause: @escaping @Sendable (Int) -> Duration,
    load: @escaping @Sendable (Key) async throws -> Step.Outcome
  ) throws(LarderError) {
    guard concurrency >= 1 else {
      throw LarderError(
        .invalidArgument, "a prefetch of \(concurrency) keys at a time is not possible",
        hint: "pass a concurrency of 1 or more")
    }
    let keys = Array(keys)
    let (steps, continuation) = AsyncStream<Step>.makeStream()
    self.steps = steps
    let queue = PrefetchQueue(keys) { continuation.yield($0) }
    task = Task(priority: priority) {
      await withTaskGroup { group in
        for _ in 0..<Swift.min(concurrency, keys.count) {
          group.addTask { await queue.work(clock, pause: pause, load: load) }
        }
      }
      continuation.finish()
      return queue.summary
    }
    continuation.onTermination = { [task] reason in
      if case .cancelled = reason { task.cancel() }
    }
  }

  /// The steps as keys are done.
  public func makeAsyncIterator() -> AsyncStream<Step>.Iterator { steps.makeAsyncIterator() }

  /// Starts no more loads and cancels those under way that no other caller waits for.
  public func cancel() { task.cancel() }

  /// Waits until every key is done or the prefetch is cancelled.
  public func finish() async -> Summary { await task.value }
}

extension Cache {
  /// Loads those of the keys that are not fresh, in their order, before any caller asks for them.
  ///
  /// A step is done when its value is committed. A caller that asks for a key during its load shares it. Throws ``LarderError/Code/invalidArgument`` for a concurrency
  /// below 1.
  ///
  /// - Parameters:
  ///   - concurrency: how many loads run at a time, 1 or more.
  ///   - pause: how long each of the concurrent loads waits before the next one, by the store's clock.
  ///   - load: see ``value(for:options:load:)``.
  public func prefetch<Key: StoreKey & Sendable>(
    _ keys: some Sequence<Key>, options: LoadOptions = LoadOptions(), concurrency: Int = 2,
    pause: Duration = .zero, priority: TaskPriority? = .utility,
    load: @escaping @Sendable (Key) async throws -> Value
  ) throws(LarderError) -> Prefetch<Key> {
    var options = options
    options.requiresFresh = true
    options.waitsForCommit = true
    return try Prefetch(
      keys, concurrency: concurrency, clock: namespace.engine.clock, priority: priority,
      pause: { _ in pause },
      load: { [options] key in
        let result = try await result(for: key, options: options) { try await load(key) }
        if let error = result.error { return .failed(error) }
        return result.source == .loaded ? .loaded : .present
      })
  }
}

/// The keys of a prefetch, handed out one after the other to its workers.
private final class PrefetchQueue<Key: Sendable>: Sendable {
  private struct State {
    var next = 0
    var summary = Prefetch<Key>.Summary()
    var done = 0
  }
  private let keys: [Key]
  private let state = Mutex(State())
  private let report: @Sendable (Prefetch<Key>.Step) -> Void

  init(_ keys: [Key], _ report: @escaping @Sendable (Prefetch<Key>.Step) -> Void) {
    self.keys = keys
    self.report = report
  }

  /// The next key; nil at the end and once the task is cancelled.
  private func next() -> Key? {
    if Task.isCancelled { return nil }
    return state.withLock { state in
      guard state.next < keys.count else { return nil }
      state.next += 1
      return keys[state.next - 1]
    }
  }

  /// Loads keys one after the other until none is left or the task is cancelled.
  func work(
    _ clock: any LarderClock, pause: (Int) -> Duration,
    load: (Key) async throws -> Prefetch<Key>.Step.Outcome
  ) async {
    while let key = next() {
      let outcome: Prefetch<Key>.Step.Outcome
      do { outcome = try await load(key) } catch { outcome = .failed(error) }
      let done = finish(key, outcome)
      if case .present = outcome { continue }
      let pause = pause(done)
      guard pause > .zero, hasNext else { continue }
      do { try await clock.sleep(until: clock.monotonic + pause.bounded) } catch { return }
    }
  }

  private var hasNext: Bool { state.withLock { $0.next < keys.count } }

  /// Records an outcome and returns how many keys are done.
  private func finish(_ key: Key, _ outcome: Prefetch<Key>.Step.Outcome) -> Int {
    // Reported under the lock, so that the steps come in the order of their numbers.
    state.withLock { state in
      state.done += 1
      switch outcome {
      case .present: state.summary.present += 1
      case .loaded: state.summary.loaded += 1
      case .failed: state.summary.failed += 1
      }
      report(
        Prefetch.Step(key: key, outcome: outcome, done: state.done, total: keys.count))
      return state.done
    }
  }

  var summary: Prefetch<Key>.Summary {
    state.withLock { state in
      var summary = state.summary
      summary.remaining = keys.count - state.done
      return summary
    }
  }
}
