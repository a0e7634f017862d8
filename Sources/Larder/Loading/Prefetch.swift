/// Loads under way that nobody asked for yet, and how far they have come.
///
///     for await step in boards.prefetch(favourites, pause: .milliseconds(200), load: board) {
///       print("\(step.done) of \(step.total)")
///     }
///
/// They go on until all keys are done or they are cancelled: by ``cancel()``, or by cancelling the task that iterates. The
/// steps can be iterated once.
public final class Prefetch<Key: Sendable>: AsyncSequence, Sendable {
  public struct Step: Sendable {
    public enum Outcome: Sendable {
      /// It was fresh, or being known not to be, already.
      case present
      case loaded
      case failed(any Error)
    }
    public var key: Key
    public var outcome: Outcome
    /// How many keys are done, this one included.
    public var done: Int
    public var total: Int
  }

  /// How it went.
  public struct Summary: Sendable, Hashable {
    public var present = 0
    public var loaded = 0
    public var failed = 0
    /// Keys that were never asked for, because it was cancelled.
    public var left = 0
  }

  private let steps: AsyncStream<Step>
  private let task: Task<Summary, Never>

  /// Loads in whatever way `load` knows, in a rhythm of its own; ``Cache/prefetch(_:options:concurrency:pause:priority:load:)``
  /// is for the usual one.
  ///
  /// - Parameters:
  ///   - concurrency: how many are loaded at a time.
  ///   - pause: how long each of these waits once so many keys are done, before it begins the next. Where a key was
  ///     present nobody waits.
  ///   - clock: that of the store, where there is one.
  ///   - load: says whether there was anything to do. What it throws is that key's outcome.
  public init(
    _ keys: some Sequence<Key>, concurrency: Int = 2, clock: any LarderClock = SystemClock(),
    priority: TaskPriority? = .utility, pause: @escaping @Sendable (Int) -> Duration,
    load: @escaping @Sendable (Key) async throws -> Step.Outcome
  ) {
    precondition(concurrency > 0, "a prefetch of \(concurrency) at a time is not possible")
    let keys = Array(keys)
    let (steps, continuation) = AsyncStream<Step>.makeStream()
    self.steps = steps
    let line = PrefetchLine(keys) { continuation.yield($0) }
    task = Task(priority: priority) {
      await withTaskGroup { group in
        for _ in 0..<Swift.min(concurrency, keys.count) {
          group.addTask {
            while let key = line.next() {
              let outcome: Step.Outcome
              do { outcome = try await load(key) } catch { outcome = .failed(error) }
              let done = line.finish(key, outcome)
              // What was there already has cost nobody anything.
              if case .present = outcome { continue }
              let pause = pause(done)
              guard pause > .zero, line.isWaiting else { continue }
              do { try await clock.sleep(until: clock.monotonic + pause) } catch { return }
            }
          }
        }
      }
      continuation.finish()
      return line.summary
    }
    continuation.onTermination = { [task] reason in
      if case .cancelled = reason { task.cancel() }
    }
  }

  public func makeAsyncIterator() -> AsyncStream<Step>.Iterator { steps.makeAsyncIterator() }

  /// Loads nothing more; a load under way is cancelled unless somebody else waits for it.
  public func cancel() { task.cancel() }

  /// Waits for the end.
  public func finish() async -> Summary { await task.value }
}

extension Cache {
  /// Loads what of these keys is not fresh, in their order, before anybody asks for it.
  ///
  /// - Parameters:
  ///   - concurrency: how many are loaded at a time.
  ///   - pause: how long each of these waits after a load before it begins the next, by the store's clock.
  ///   - load: see ``value(for:options:load:)``; whoever asks for a key meanwhile shares its load.
  public func prefetch<Key: StoreKey & Sendable>(
    _ keys: some Sequence<Key>, options: LoadOptions = LoadOptions(), concurrency: Int = 2,
    pause: Duration = .zero, priority: TaskPriority? = .utility,
    load: @escaping @Sendable (Key) async throws -> Value
  ) -> Prefetch<Key> {
    var options = options
    options.waitsForFresh = true
    return Prefetch(
      keys, concurrency: concurrency, clock: namespace.engine.clock, priority: priority,
      pause: { _ in pause },
      load: { [options] key in
        let loaded = try await value(for: key, options: options) { try await load(key) }
        if let error = loaded.error { return .failed(error) }
        return loaded.source == .loaded ? .loaded : .present
      })
  }
}
