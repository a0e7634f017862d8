public import Larder
import LarderSystem

/// The data of one application that its machines share. ``StreamTier`` keeps it in a Redis or Valkey server, and
/// `MemoryTier` of LarderSharedTesting in memory.
///
/// Every function throws `LarderError/Code/unreachable` if it has done nothing, and
/// `LarderError/Code/unanswered` if it may have been done.
public protocol SharedTier: Sendable {
  /// The name that separates this data from that of other applications.
  var application: String { get }

  /// Fetches the value under a key; nil if the tier has no value.
  ///
  /// - Parameter tags: the tags whose invalidations the result takes into account.
  func fetch(_ key: SharedKey, tags: [String]) async throws(LarderError) -> FetchedValue?

  /// Asks for the right to load a key, unless there is a value other than the rejected one.
  ///
  /// - Parameters:
  ///   - stamp: the value that the caller has seen and does not want; nil if it saw none.
  ///   - token: a random name for the lease.
  ///   - length: the time after which the lease ends by itself.
  func acquire(
    _ key: SharedKey, rejecting stamp: ValueStamp?, as token: LeaseToken, for length: Duration
  ) async throws(LarderError) -> LeaseAnswer

  /// Lets the lease last for `length` from now; false if it is gone.
  func renew(
    _ key: SharedKey, _ token: LeaseToken, for length: Duration
  ) async throws(LarderError) -> Bool

  /// Ends the lease without a value. Does nothing if it is gone.
  func release(_ key: SharedKey, _ token: LeaseToken) async throws(LarderError)

  /// Stores a loaded value and ends the lease. A fill is not announced to other machines.
  ///
  /// - Returns: the value's stamp; nil, and nothing is stored, if the lease is gone, or the namespace or a tag of the
  ///   value was invalidated since the lease was granted.
  func fill(
    _ key: SharedKey, _ value: TierValue, _ lease: Lease
  ) async throws(LarderError) -> ValueStamp?

  /// Makes a change, writes its record into the log, and returns its position. A set or removal of a key ends its lease.
  func change(_ change: TierChange) async throws(LarderError) -> Position

  /// The newest record of the log. Writes a first one into an empty log.
  func newestRecord() async throws(LarderError) -> LogRecord

  /// The position of the newest record, and the record at a position; nil for records that the log does not have.
  ///
  /// A reader whose own last record is missing or different has lost the history that it followed.
  func look(at position: Position) async throws(LarderError) -> (
    head: Position?, record: LogRecord?
  )

  /// Some hundreds of records after a position, oldest first.
  ///
  /// The first record is the oldest of these in the log. A reader compares its ``LogRecord/previous`` with the digest of the
  /// reader's own last record, because the log may have lost records, or may have another history.
  ///
  /// - Parameter waiting: how long to wait for a record; zero does not wait. The result is empty if no record came.
  func records(
    after position: Position, waiting: Duration
  ) async throws(LarderError) -> [LogRecord]
}

/// A key in a namespace of the application.
public struct SharedKey: Hashable, Sendable {
  /// The namespace's name.
  public var namespace: String
  /// The key's bytes.
  public var bytes: [UInt8]

  /// A key of these parts.
  public init(namespace: String, bytes: [UInt8]) {
    self.namespace = namespace
    self.bytes = bytes
  }

  /// Whether both parts have the same bytes.
  public static func == (left: SharedKey, right: SharedKey) -> Bool {
    left.bytes == right.bytes && left.namespace.isExactly(right.namespace)
  }
}

/// A value on its way into the tier.
public struct TierValue: Sendable {
  /// The value with everything that belongs to it.
  public var frame: [UInt8]
  /// The time after which the tier forgets it, more than zero and at most 30 days.
  public var lifetime: Duration
  /// The tags in the frame.
  public var tags: [String]

  /// A value of these parts.
  public init(frame: [UInt8], lifetime: Duration, tags: [String]) {
    self.frame = frame
    self.lifetime = lifetime
    self.tags = tags
  }
}

/// A value as the tier has it.
public struct FetchedValue: Sendable {
  /// Tells it from every other value of the key.
  public var stamp: ValueStamp
  /// The value with everything that belongs to it; any bytes are possible.
  public var frame: [UInt8]
  /// The time since it was stored, by the server's clock.
  public var age: Duration
  /// Whether the namespace was cleared, or one of the tags invalidated, after the value was stored.
  public var isInvalidated: Bool
  /// The position of the newest record at the moment of the fetch.
  public var head: Position

  /// A value of these parts.
  public init(
    stamp: ValueStamp, frame: [UInt8], age: Duration, isInvalidated: Bool, head: Position
  ) {
    self.stamp = stamp
    self.head = head
    self.frame = frame
    self.age = age
    self.isInvalidated = isInvalidated
  }
}

/// The name of a lease, which no other lease has.
public struct LeaseToken: Hashable, Sendable {
  /// 16 random bytes.
  public let bytes: [UInt8]

  /// A new name.
  public init() {
    var generator = SystemRandomNumberGenerator()
    bytes = Position(milliseconds: generator.next(), sequence: generator.next()).bytes
  }
}

/// The right to load one key for a short time. It is not a lock: when it has ended, another machine may load the key too.
public struct Lease: Hashable, Sendable {
  /// The name of the lease.
  public var token: LeaseToken
  /// The newest position when it was granted.
  public var head: Position

  /// A lease of these parts.
  public init(token: LeaseToken, head: Position) {
    self.token = token
    self.head = head
  }
}

/// The answer to a request for a lease.
public enum LeaseAnswer: Hashable, Sendable {
  /// The caller may load the key.
  case granted(Lease)
  /// Another caller loads the key, and its lease ends in this time unless that caller renews it.
  case held(Duration)
  /// There is a value that the caller has not rejected.
  case changed
}

/// A change that every machine should learn of.
public enum TierChange: Sendable {
  /// A new value of a key.
  case set(SharedKey, TierValue)
  /// The removal of a key.
  case remove(SharedKey)
  /// The removal of every key of a namespace.
  case clear(namespace: String)
  /// The removal of every key with a tag, in every namespace.
  case invalidate(tag: String)
}
