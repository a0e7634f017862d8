public import Larder
import LarderSystem

/// A tier in a Redis 6.2 or Valkey server, or in another server with the same protocol, streams and scripts.
///
/// Each change appends a record to a stream, and the ID of the record is the version of the new value. All keys of the
/// application begin with its name and a colon.
public struct StreamTier: SharedTier {
  public let application: String
  let sender: any CommandSender
  private let scripts: ScriptRunner
  let names: TierNames
  private let time: ServerClock
  let options: SharedOptions
  let clock: any LarderClock
  let replySize = ReplySize()
  /// The largest error, in microseconds, of this process's estimate of the server's time.
  private static let clockError: UInt64 = 1_000_000
  /// A floor makes older values invalid. Its lifetime is longer than the lifetime of any value, so a server evicts values first.
  static let floorLifetime = Frame.longest * 2

  /// Makes a tier for `application`.
  ///
  /// - Parameter clock: a clock whose monotonic part measures the time since the server's time was read.
  /// - Throws: `LarderError/Code/invalidArgument` if the name is not 1 to 100 letters, digits, hyphens, underscores and dots.
  public init(
    _ sender: any CommandSender, application: String, options: SharedOptions = SharedOptions(),
    clock: any LarderClock = SystemClock()
  ) throws(LarderError) {
    self.application = application
    self.sender = sender
    self.options = options.possible
    names = try TierNames(application: application)
    scripts = ScriptRunner(sender)
    time = ServerClock(clock)
    self.clock = clock
  }

  public func fetch(_ key: SharedKey, tags: [String]) async throws(LarderError) -> FetchedValue? {
    let keys =
      [names.value(key), names.head, names.floor(namespace: key.namespace)]
      + tags.map(names.floor(tag:))
    let reply = try await sender.send(
      Command([Array("MGET".utf8)] + keys, timeout: options.readTimeout))
    guard let parts = reply.list(of: keys.count) else {
      throw LarderError(unexpected: reply, to: "MGET", mayHaveChanged: false)
    }
    // Bytes without a stamp are not a value, so the result is nil. The script `acquire` has the same rule.
    guard let stored = parts[0].bytes,
      let stamp = ValueStamp(bytes: stored.prefix(ValueStamp.count))
    else { return nil }
    // If the head is missing, the log of the value was lost. The value's own version is then the newest known position.
    let head = parts[1].bytes.flatMap { Position(head: $0) } ?? stamp.version
    // A stamp with a version beyond the head does not come from this log, so the value is invalid.
    var isInvalidated = head < stamp.version
    for floor in parts.dropFirst(2) where floor != .null {
      guard let position = floor.bytes.flatMap({ Position(id: $0) }) else {
        throw LarderError(unexpected: floor, to: "MGET", mayHaveChanged: false)
      }
      isInvalidated = isInvalidated || stamp.version < position
    }
    let now = try await time.now(asking: sender, timeout: options.readTimeout)
    // A value whose time is after the server's time, for example from an earlier server, has no valid age and counts as expired.
    let isFuture = stamp.written > now && stamp.written - now > Self.clockError
    let age = isFuture ? .max : now > stamp.written ? now - stamp.written : 0
    return FetchedValue(
      stamp: stamp, frame: Array(stored.dropFirst(ValueStamp.count)),
      age: .microseconds(Int64(clamping: age)), isInvalidated: isInvalidated, head: head)
  }

  public func acquire(
    _ key: SharedKey, rejecting stamp: ValueStamp?, as token: LeaseToken, for length: Duration
  ) async throws(LarderError) -> LeaseAnswer {
    let reply = try await run(
      .acquire, keys(of: key), [stamp?.bytes ?? [], token.bytes, digits(length)], isLogged: true)
    let parts = reply.list ?? []
    switch (parts.first?.number, parts.count) {
    case (1, 1): return .changed
    case (2, 2):
      guard let head = parts[1].bytes.flatMap({ Position(head: $0) }) else { break }
      return .granted(Lease(token: token, head: head))
    case (3, 2):
      guard let left = parts[1].number else { break }
      // A number below 0 means that another program wrote the lease key, without an end. This process asks again after 60 s.
      return .held(.milliseconds(left < 0 ? 60_000 : min(max(left, 1), 60_000)))
    default: break
    }
    throw LarderError(unexpected: reply, to: "acquire", mayHaveChanged: true)
  }

  public func renew(
    _ key: SharedKey, _ token: LeaseToken, for length: Duration
  ) async throws(LarderError) -> Bool {
    try await run(.renew, [names.lease(key)], [token.bytes, digits(length)]).number == 1
  }

  public func release(_ key: SharedKey, _ token: LeaseToken) async throws(LarderError) {
    _ = try await run(.renew, [names.lease(key)], [token.bytes, Array("0".utf8)])
  }

  public func fill(
    _ key: SharedKey, _ value: TierValue, _ lease: Lease
  ) async throws(LarderError) -> ValueStamp? {
    let floors = [names.floor(namespace: key.namespace)] + value.tags.map(names.floor(tag:))
    let reply = try await run(
      .fill, keys(of: key) + [names.time] + floors,
      [
        lease.token.bytes, Array(lease.head.description.utf8), value.frame, digits(value.lifetime),
      ], isLogged: true)
    if reply == .null { return nil }
    guard let stamp = reply.bytes.flatMap({ ValueStamp(bytes: $0) }) else {
      throw LarderError(unexpected: reply, to: "fill", mayHaveChanged: true)
    }
    return stamp
  }

  public func change(_ change: TierChange) async throws(LarderError) -> Position {
    let (script, places, arguments): (Script, [[UInt8]], [[UInt8]]) =
      switch change {
      case .set(let key, let value):
        (
          .set, keys(of: key) + [names.time],
          [Array(key.namespace.utf8), key.bytes, value.frame, digits(value.lifetime)]
        )
      case .remove(let key): (.remove, keys(of: key), [Array(key.namespace.utf8), key.bytes])
      case .clear(let namespace):
        // A server that evicts must not forget the floors of namespaces, so these floors have no lifetime.
        (
          .raiseFloor, [names.log, names.head, names.floor(namespace: namespace)],
          [Array("clear".utf8), Array(namespace.utf8), []]
        )
      case .invalidate(let tag):
        (
          .raiseFloor, [names.log, names.head, names.floor(tag: tag)],
          [Array("invalidate".utf8), Array(tag.utf8), digits(Self.floorLifetime)]
        )
      }
    let reply = try await run(script, places, arguments, isLogged: true)
    guard let position = reply.bytes.flatMap({ Position(id: $0) }) else {
      throw LarderError(unexpected: reply, to: script.name, mayHaveChanged: true)
    }
    return position
  }

  private func keys(of key: SharedKey) -> [[UInt8]] {
    [names.log, names.head, names.value(key), names.lease(key)]
  }

  private func digits(_ duration: Duration) -> [UInt8] {
    Array(String(max(duration.frameMilliseconds, 1)).utf8)
  }

  func run(
    _ script: Script, _ keys: [[UInt8]], _ arguments: [[UInt8]], isLogged: Bool = false
  ) async throws(LarderError) -> Reply {
    let length = isLogged ? [Array(String(options.logLength).utf8)] : []
    let reply = try await scripts.run(
      script, keys, length + arguments, timeout: options.writeTimeout)
    if case .failure = reply {
      throw LarderError(unexpected: reply, to: script.name, mayHaveChanged: false)
    }
    return reply
  }
}

extension LarderError {
  /// The error for an error of the server, or for a reply that does not fit the request. The error shows no value.
  init(unexpected reply: Reply, to request: String, mayHaveChanged: Bool) {
    if case .failure(let message) = reply {
      // The server's message may repeat arguments, so only its first word, the kind of the error, is shown.
      let kind = Reply.serverError(in: message).prefix { $0.isLetter && $0.isASCII }.prefix(40)
      self.init(
        .unreachable, "the shared tier refused \(request): \(kind)",
        hint: "look into the server's log; Docs/Use/Fleet.md has the rights that the user needs")
    } else {
      self.init(
        mayHaveChanged ? .unanswered : .unreachable,
        "the shared tier gave an impossible reply to \(request)",
        hint: "check that the address is that of a Redis or Valkey server")
    }
  }
}
