#if HTTP
  import Larder
  import LarderSystem
  import Synchronization

  /// The time limit of each read of a body. All reads share one timer, because many small pieces would need too many timers.
  final class ReadLimit: Sendable {
    private struct State {
      /// The time limit of the read under way.
      var deadline: Duration?
      var cancel: (@Sendable () -> Void)?
      /// The timer; nil while no timer runs.
      var timer: Task<Void, Never>?
      var isOver = false
    }

    private let limit: Duration
    private let clock: any LarderClock
    private let state = Mutex(State())

    init(_ limit: Duration, by clock: any LarderClock) {
      self.limit = limit
      self.clock = clock
    }

    deinit { state.withLock { $0.timer?.cancel() } }

    /// Returns the result of `read`, or cancels it after the limit and throws. Only one call may be under way at a time.
    func run(_ read: @escaping @Sendable () async throws -> [UInt8]?) async throws -> [UInt8]? {
      let deadline = clock.monotonic + limit.bounded
      let reading = Task { try await read() }
      begin(until: deadline) { reading.cancel() }
      let result = await withTaskCancellationHandler {
        await reading.result
      } onCancel: {
        reading.cancel()
      }
      // A transport may take a cancellation for the end of the body and return nil. So the time limit is checked first, and the
      // cancellation of the reader is checked before such an end counts.
      if end() { throw HTTPCacheError.timedOut(limit) }
      let piece = try result.get()
      if piece == nil { try Task.checkCancellation() }
      return piece
    }

    private func begin(until deadline: Duration, cancel: @escaping @Sendable () -> Void) {
      state.withLock { state in
        (state.deadline, state.cancel) = (deadline, cancel)
        if state.timer != nil { return }
        state.timer = Task { [weak self, clock] in
          while let end = self?.nextDeadline() {
            guard (try? await clock.sleep(until: end)) != nil else { return }
          }
        }
      }
    }

    /// Ends the read, and returns whether the read took too long.
    private func end() -> Bool {
      state.withLock { state in
        (state.deadline, state.cancel) = (nil, nil)
        return state.isOver
      }
    }

    /// Cancels a read that is too late. Returns the time at which the timer must check again; nil ends the timer.
    private func nextDeadline() -> Duration? {
      let (deadline, cancel) = state.withLock { state -> (Duration?, (@Sendable () -> Void)?) in
        if let deadline = state.deadline, deadline > clock.monotonic { return (deadline, nil) }
        state.timer = nil
        state.isOver = state.deadline != nil
        return (nil, state.cancel)
      }
      cancel?()
      return deadline
    }
  }

  /// The progress of a request's body, on which the time limit of the request depends.
  final class UploadProgress: Sendable {
    private let clock: any LarderClock
    private let state: Mutex<(isReading: Bool, last: Duration?)> = Mutex((false, nil))

    init(_ clock: any LarderClock) { self.clock = clock }

    func run(_ read: @Sendable () async throws -> [UInt8]?) async throws -> [UInt8]? {
      state.withLock { $0.isReading = true }
      defer {
        let now = clock.monotonic
        state.withLock { $0 = (false, now) }
      }
      return try await read()
    }

    /// The time of the last piece; the present time while a read is under way; nil before the first read.
    var last: Duration? {
      let now = clock.monotonic
      return state.withLock { $0.isReading ? now : $0.last }
    }
  }
#endif
