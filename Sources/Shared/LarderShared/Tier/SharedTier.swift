public import Larder
import LarderSystem

/// The data of one application that its machines share. ``StreamTier`` keeps the data in a Redis or Valkey server, and
/// `MemoryTier` of LarderSharedTesting keeps the data in memory.
///
/// Every function throws `LarderError/Code/unreachable` if the tier has done nothing, and `LarderError/Code/unanswered` if the
/// tier may have carried out the request.
public protocol SharedTier: Sendable {
  /// The name that separates this data from the data of other applications.
  var application: String { get }

  /// Fetches the value under a key; nil if the tier has no value.
  ///
  /// - Parameter tags: the tags whose invalidations the result considers.
  func fetch(_ key: SharedKey, tags: [String]) async throws(LarderError) -> FetchedValue?

  /// Asks for the right to load a key. The tier refuses while another caller has the right, or if its value has another stamp.
  ///
  /// - Parameters:
  ///   - stamp: the stamp of the value that the caller has seen and rejects; nil if it saw no value.
  ///   - token: a random name for the lease.
  ///   - length: the time after which the lease ends if it is not renewed.
  func acquire(
    _ key: SharedKey, rejecting stamp: ValueStamp?, as token: LeaseToken, for length: Duration
  ) async throws(LarderError) -> LeaseAnswer

  /// Extends the lease, so that it ends after `length`, measured from now. Returns false if the lease is gone.
  func renew(
    _ key: SharedKey, _ token: LeaseToken, for length: Duration
  ) async throws(LarderError) -> Bool

  /// Ends the lease without a value. Does nothing if the lease is gone.
  func release(_ key: SharedKey, _ token: LeaseToken) async throws(LarderError)

  /// Stores a loaded value, and ends the lease. Writes no record into the log, so other machines do not learn of the value.
  ///
  /// - Returns: the value's stamp. Nil if nothing is stored: the lease is gone, or the namespace or a tag of the value was
  ///   invalidated since the lease was granted.
  func fill(
    _ key: SharedKey, _ value: TierValue, _ lease: Lease
  ) async throws(LarderError) -> ValueStamp?

  /// Makes a change, writes its record into the log, and returns the record's position. A change of a key ends its lease.
  func change(_ change: TierChange) async throws(LarderError) -> Position

  /// The newest record of the log. If the log is empty or does not end with the head's record, writes a first record.
  func newestRecord() async throws(LarderError) -> LogRecord

  /// The position of the newest record, and the record at a position. Each of the two is nil if the log does not have it.
  ///
  /// If the reader's own last record is missing or different, the reader has lost the history that it followed.
  func look(at position: Position) async throws(LarderError) -> (
    head: Position?, record: LogRecord?
  )

  /// Up to some hundreds of records after a position, the oldest first.
  ///
  /// The first record is the oldest in the log after the position. A reader compares its ``LogRecord/previous`` with the
  /// digest of the reader's last record, because the log may have lost records or may have another history.
  ///
  /// - Parameter waiting: the longest wait for a record; zero does not wait. The result is empty if no record came.
  func records(after position: Position, waiting: Duration) async throws(LarderError) -> [LogRecord]
}

/// A key in a namespace of the application.
public struct SharedKey: Hashable, Sendable {
  /// The namespace's name.
  public var namespace: String
  /// The key's bytes.
  public var bytes: [UInt8]

  /// Makes a key from its parts.
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
  /// The value with its lifetimes, tags and codec, in the tier's form.
  public var frame: [UInt8]
  /// The time after which the tier forgets the value; more than zero, at most 30 days.
  public var lifetime: Duration
  /// The tags in the frame.
  public var tags: [String]

  /// Makes a value from its parts.
  public init(frame: [UInt8], lifetime: Duration, tags: [String]) {
    self.frame = frame
    self.lifetime = lifetime
    self.tags = tags
  }
}

/// A value that was fetched from the tier.
public struct FetchedValue: Sendable {
  /// Identifies the value among all values of the key.
  public var stamp: ValueStamp
  /// The value with its lifetimes, tags and codec, in the tier's form; any bytes are possible.
  public var frame: [UInt8]
  /// The time since the value was stored, by the server's clock.
  public var age: Duration
  /// Whether the value is invalid: its namespace was cleared, a tag was invalidated, or the value is from another log.
  public var isInvalidated: Bool
  /// The position of the newest record at the time of the fetch.
  public var head: Position

  /// Makes a fetched value from its parts.
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

/// The name of a lease; no other lease has it.
public struct LeaseToken: Hashable, Sendable {
  /// 16 random bytes.
  public let bytes: [UInt8]

  /// Makes a new name.
  public init() {
    var generator = SystemRandomNumberGenerator()
    bytes = Position(milliseconds: generator.next(), sequence: generator.next()).bytes
  }
}

/// The right to load one key for a short time. A lease is not a lock: after its end another machine may load the key, too.
public struct Lease: Hashable, Sendable {
  /// The name of the lease.
  public var token: LeaseToken
  /// The newest position when the lease was granted.
  public var head: Position

  /// Makes a lease from its parts.
  public init(token: LeaseToken, head: Position) {
    self.token = token
    self.head = head
  }
}

/// The answer to a request for a lease.
public enum LeaseAnswer: Hashable, Sendable {
  /// The caller may load the key.
  case granted(Lease)
  /// Another caller loads the key. The lease of that caller ends after this time, if it is not renewed.
  case held(Duration)
  /// The tier has a value that the caller has not rejected.
  case changed
}

/// A change that every machine must see.
public enum TierChange: Sendable {
  /// A new value of a key.
  case set(SharedKey, TierValue)
  /// The removal of a key.
  case remove(SharedKey)
  /// The removal of every key of a namespace.
  case clear(namespace: String)
  /// The removal of every key with a tag, in every namespace.
  case invalidate(tag: String)

  /// The data that the change concerns, as the log names the data.
  package var subject: LogRecord.Subject {
    switch self {
    case .set(let key, _), .remove(let key): .key(key)
    case .clear(let namespace): .namespace(namespace)
    case .invalidate(let tag): .tag(tag)
    }
  }
}
