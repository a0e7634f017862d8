/// What a write promises once it has returned.
enum Level: String, Codable, Sendable {
  /// It survives the machine losing power.
  case durable
  /// It survives the process being killed; what losing power does is the peer's ``PeerKind/promise``.
  case unsynced = "no sync"
  /// Nothing survives the process.
  case memory
}

/// How long an entry written by a workload lives.
enum Lifetime {
  case day
  /// Its time has come already.
  case over
}

/// A store that is measured.
protocol Peer: Sendable {
  /// What one thread uses it through.
  func session() throws -> any Session
  /// Reads the whole namespace, every value touched.
  func scan() throws -> Tally
  /// Removes what has expired; how many entries that was.
  func purge() throws -> Int
  /// Removes every entry of the namespace.
  func clear() throws
  /// From now on what is written pushes as much out.
  func limit() throws
  func close() throws
  /// The process that does the work, if it is another than this.
  var server: Int32? { get }
}

extension Peer {
  func scan() throws -> Tally { throw Unsupported("has no such operation") }
  func purge() throws -> Int { throw Unsupported("has no such operation") }
  func limit() throws { throw Unsupported("has no limit of its own") }
  var server: Int32? { nil }
}

/// One thread's use of a peer.
protocol Session {
  /// Reads entries one after the other, each by itself, and touches the bytes of those that are fresh.
  func read(_ order: Order) throws -> Tally
  /// Writes entries in one transaction, or in whatever comes nearest.
  func write(_ order: Order, lifetime: Lifetime) throws
  /// Nanoseconds the last call took, where the peer measures itself because it runs in another language.
  var ownTime: Double? { get }
}

extension Session {
  var ownTime: Double? { nil }
}

/// A peer does not do this, or not here; the report says why.
struct Unsupported: Error {
  let reason: String

  init(_ reason: String) { self.reason = reason }
}

/// A peer failed.
struct Failure: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}
