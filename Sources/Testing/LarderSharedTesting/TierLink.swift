public import Larder
public import LarderShared
import Synchronization

/// One machine's connection to a tier that other machines use too, for tests of a machine that is cut off.
public final class TierLink: SharedTier {
  private let tier: any SharedTier
  private let isCut = Atomic(false)
  private let isLogCut = Atomic(false)

  /// A connection to `tier`.
  public init(to tier: any SharedTier) { self.tier = tier }

  /// Makes every request fail; requests under way lose their replies.
  public func cut() { isCut.store(true, ordering: .sequentiallyConsistent) }

  /// Makes requests for records of the log fail. Other requests still work.
  public func cutLog() { isLogCut.store(true, ordering: .sequentiallyConsistent) }

  /// Ends the failures of ``cut()`` and ``cutLog()``.
  public func restore() {
    isCut.store(false, ordering: .sequentiallyConsistent)
    isLogCut.store(false, ordering: .sequentiallyConsistent)
  }

  private func pass<Result: Sendable>(
    _ request: () async throws(LarderError) -> Result
  ) async throws(LarderError) -> Result {
    if isCut.load(ordering: .sequentiallyConsistent) {
      throw LarderError(.unreachable, "the link was cut by a test")
    }
    let result = try await request()
    if isCut.load(ordering: .sequentiallyConsistent) {
      throw LarderError(.unanswered, "the link was cut by a test before the reply")
    }
    return result
  }

  public var application: String { tier.application }

  public func fetch(_ key: SharedKey, tags: [String]) async throws(LarderError) -> FetchedValue? {
    try await pass { () throws(LarderError) in try await tier.fetch(key, tags: tags) }
  }

  public func acquire(
    _ key: SharedKey, rejecting stamp: ValueStamp?, as token: LeaseToken, for length: Duration
  ) async throws(LarderError) -> LeaseAnswer {
    try await pass { () throws(LarderError) in
      try await tier.acquire(key, rejecting: stamp, as: token, for: length)
    }
  }

  public func renew(
    _ key: SharedKey, _ token: LeaseToken, for length: Duration
  ) async throws(LarderError) -> Bool {
    try await pass { () throws(LarderError) in try await tier.renew(key, token, for: length) }
  }

  public func release(_ key: SharedKey, _ token: LeaseToken) async throws(LarderError) {
    try await pass { () throws(LarderError) in try await tier.release(key, token) }
  }

  public func fill(
    _ key: SharedKey, _ value: TierValue, _ lease: Lease
  ) async throws(LarderError) -> ValueStamp? {
    try await pass { () throws(LarderError) in try await tier.fill(key, value, lease) }
  }

  public func change(_ change: TierChange) async throws(LarderError) -> Position {
    try await pass { () throws(LarderError) in try await tier.change(change) }
  }

  public func newestRecord() async throws(LarderError) -> LogRecord {
    try await pass { () throws(LarderError) in try await tier.newestRecord() }
  }

  public func look(
    at position: Position
  ) async throws(LarderError) -> (head: Position?, record: LogRecord?) {
    try await pass { () throws(LarderError) in try await tier.look(at: position) }
  }

  public func records(
    after position: Position, waiting: Duration
  ) async throws(LarderError) -> [LogRecord] {
    try await pass { () throws(LarderError) in
      if isLogCut.load(ordering: .sequentiallyConsistent) {
        throw LarderError(.unreachable, "the link to the log was cut by a test")
      }
      return try await tier.records(after: position, waiting: waiting)
    }
  }
}
