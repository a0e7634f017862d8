/// The promise of a write that has returned.
enum Level: String, Codable, Sendable {
  /// The write survives a power failure of the machine.
  case durable
  /// The write survives a kill of the process. For a power failure see the peer's ``PeerKind/promise``.
  case unsynced = "no sync"
  /// The write does not survive the process.
  case memory
}

/// The lifetime of an entry that a workload writes.
enum Lifetime {
  case day
  /// The entry is expired from the start.
  case over
}

/// A store under measurement.
protocol Peer: Sendable {
  /// A new session for one thread.
  func session() throws -> any Session
  /// Reads the whole namespace and touches every value.
  func scan() throws -> Tally
  /// Removes the expired entries and returns their number.
  func purge() throws -> Int
  /// Removes every entry of the namespace.
  func clear() throws
  /// Sets the store's limit to its current contents, so that each new entry evicts another.
  func limit() throws
  /// Evicts `count` entries that the store chooses, in steps, so that other work can run between them.
  func evict(_ count: Int) throws
  /// Writes each piece in a task of its own, entry by entry. Returns the nanoseconds until all tasks are done.
  func writeInTasks(_ pieces: [Order]) throws -> Double
  func close() throws
  /// The process id of the peer's server; nil if the peer runs in this process.
  var server: Int32? { get }
}

extension Peer {
  func scan() throws -> Tally { throw Unsupported("has no such operation") }
  func purge() throws -> Int { throw Unsupported("has no such operation") }
  func limit() throws { throw Unsupported("has no limit of its own") }
  func evict(_ count: Int) throws { throw Unsupported("has no limit of its own") }
  func writeInTasks(_ pieces: [Order]) throws -> Double {
    throw Unsupported("has no writes that suspend")
  }
  var server: Int32? { nil }
}

/// One thread's use of a peer.
protocol Session {
  /// Reads entries one by one, and touches the bytes of fresh entries.
  func read(_ order: Order) throws -> Tally
  /// Writes entries in one transaction, or in the nearest equivalent.
  func write(_ order: Order, lifetime: Lifetime) throws
  /// The nanoseconds of the last call, as a peer in another language measures them; nil for other peers.
  var ownTime: Double? { get }
}

extension Session {
  var ownTime: Double? { nil }
}

/// The error of an operation that a peer does not have, or not in this case. The report has the reason.
struct Unsupported: Error {
  let reason: String

  init(_ reason: String) { self.reason = reason }
}

/// The error of a peer that fails.
struct Failure: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}
