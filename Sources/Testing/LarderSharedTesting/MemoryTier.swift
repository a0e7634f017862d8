public import Larder
public import LarderShared
import LarderSystem
import Synchronization

/// A tier in the memory of one process, with faults on demand, for tests without a server.
///
/// The tier keeps the rules of `SharedTier`. Stores of one process that share this tier behave like machines with one server.
public final class MemoryTier: SharedTier {
  /// A fault of a request.
  public enum Fault: Sendable {
    /// The request does not reach the tier.
    case unreachable
    /// The tier carries the request out, and the reply is lost.
    case lostReply
    /// The request reaches the tier after this time, by the tier's clock.
    case delay(Duration)
    /// The tier carries the request out immediately. The reply arrives after this time, by the tier's clock.
    case lateReply(Duration)
  }

  /// The data of a tier at one moment; see ``failOver(to:)``.
  public struct Image: Sendable {
    var values: [SharedKey: Stored] = [:]
    var leases: [SharedKey: (token: LeaseToken, end: Duration)] = [:]
    var namespaces: [Key: Position] = [:]
    var tags: [Key: Position] = [:]
    var log: [LogRecord] = []
    /// The position of the newest record, even if the log has forgotten the record.
    var head: Position?
  }

  struct Stored {
    var value: TierValue
    var stamp: ValueStamp
    var written: Duration
  }

  struct State {
    var image = Image()
    var faults: [Fault] = []
    var permanent: Fault?
    var requests = 0
  }

  public let application: String
  private let clock: any LarderClock
  private let state = Mutex(State())
  /// The callers that wait for a record of the log.
  let readers = Waiters<Void>()

  /// An empty tier.
  ///
  /// - Parameter clock: the clock of the server. Only its monotonic part is used, and the stores may have other clocks.
  public init(application: String = "test", clock: any LarderClock = SystemClock()) {
    self.application = application
    self.clock = clock
  }

  // MARK: Faults

  /// Gives the next `count` requests a fault. Requests by which the machines read the log do not count and get no fault.
  public func fail(next count: Int, with fault: Fault) {
    state.withLock { $0.faults += Array(repeating: fault, count: count) }
  }

  /// Gives every later request a fault, and ends the faults of ``fail(next:with:)``. If the fault is nil, all faults end.
  public func failAll(with fault: Fault?) {
    state.withLock { state in
      state.permanent = fault
      state.faults = []
    }
  }

  /// The number of requests. Lost requests count, but requests by which the machines read the log do not count.
  public var requests: Int { state.withLock { $0.requests } }

  /// The data at this moment, for example for a replica that gets no later changes.
  public var image: Image { state.withLock { $0.image } }

  /// Replaces the data by an image, to simulate a failover to a replica that lagged behind. The image of a new tier is empty.
  public func failOver(to image: Image) {
    state.withLock { $0.image = image }
    readers.resume()
  }

  /// Forgets all records of the log except the newest `count` records.
  public func trimLog(to count: Int) {
    state.withLock { $0.image.log.removeFirst(max($0.image.log.count - count, 0)) }
  }

  /// The position of the newest record, even if the log has forgotten the record; nil before the first record.
  public var newest: Position? { state.withLock { $0.image.head } }

  /// Changes the bytes of a value's frame, to simulate damage.
  public func damage(_ key: SharedKey, _ change: (inout [UInt8]) -> Void) {
    state.withLock { state in
      guard var stored = state.image.values[key] else { return }
      change(&stored.value.frame)
      state.image.values[key] = stored
    }
  }

  func perform<Result: Sendable>(
    counts: Bool = true, _ request: (inout Image, Duration) -> Result
  ) async throws(LarderError) -> Result {
    let fault = state.withLock { state in
      // A reader of the log sends requests all the time, so it must not take the fault that is for the next request of a caller.
      guard counts else { return state.permanent }
      state.requests += 1
      return state.faults.isEmpty ? state.permanent : state.faults.removeFirst()
    }
    if case .unreachable = fault {
      throw LarderError(.unreachable, "the tier in memory was told to be out of reach")
    }
    if case .delay(let delay) = fault { try await wait(delay) }
    let now = clock.monotonic
    let (result, hasRecords) = state.withLock { state in
      state.image.expire(at: now)
      let head = state.image.head
      let result = request(&state.image, now)
      return (result, state.image.head != head)
    }
    if hasRecords { readers.resume() }
    if case .lostReply = fault {
      throw LarderError(.unanswered, "the tier in memory was told to lose a reply")
    }
    if case .lateReply(let delay) = fault { try await wait(delay) }
    return result
  }

  private func wait(_ delay: Duration) async throws(LarderError) {
    do { try await clock.sleep(until: clock.monotonic + delay) } catch {
      throw LarderError(.unanswered, "the request was cancelled")
    }
  }

  // MARK: Requests

  public func fetch(_ key: SharedKey, tags: [String]) async throws(LarderError) -> FetchedValue? {
    try await perform { image, now in
      image.values[key].map { stored in
        FetchedValue(
          stamp: stored.stamp, frame: stored.value.frame, age: now - stored.written,
          isInvalidated: stored.stamp.version < image.floor(of: key, tags),
          head: image.head ?? stored.stamp.version)
      }
    }
  }

  public func acquire(
    _ key: SharedKey, rejecting stamp: ValueStamp?, as token: LeaseToken, for length: Duration
  ) async throws(LarderError) -> LeaseAnswer {
    try await perform { image, now in
      if let present = image.values[key], present.stamp != stamp { return .changed }
      if let lease = image.leases[key] { return .held(lease.end - now) }
      image.leases[key] = (token, now + length)
      return .granted(
        Lease(token: token, head: image.head ?? image.advance(now, .nothing).position))
    }
  }

  public func renew(
    _ key: SharedKey, _ token: LeaseToken, for length: Duration
  ) async throws(LarderError) -> Bool {
    try await perform { image, now in
      guard image.leases[key]?.token == token else { return false }
      image.leases[key] = (token, now + length)
      return true
    }
  }

  public func release(_ key: SharedKey, _ token: LeaseToken) async throws(LarderError) {
    try await perform { image, _ in if image.leases[key]?.token == token { image.leases[key] = nil }
    }
  }

  public func fill(
    _ key: SharedKey, _ value: TierValue, _ lease: Lease
  ) async throws(LarderError) -> ValueStamp? {
    try await perform { image, now in
      guard image.leases[key]?.token == lease.token else { return nil }
      image.leases[key] = nil
      guard let head = image.head, lease.head >= image.floor(of: key, value.tags) else {
        return nil
      }
      return image.store(value, under: key, version: head, at: now)
    }
  }

  public func change(_ change: TierChange) async throws(LarderError) -> Position {
    try await perform { image, now in
      let position = image.advance(now, change.subject).position
      switch change {
      case .set(let key, let value):
        _ = image.store(value, under: key, version: position, at: now)
        image.leases[key] = nil
      case .remove(let key):
        image.values[key] = nil
        image.leases[key] = nil
      case .clear(let namespace): image.namespaces[Key(namespace)] = position
      case .invalidate(let tag): image.tags[Key(tag)] = position
      }
      return position
    }
  }
}
