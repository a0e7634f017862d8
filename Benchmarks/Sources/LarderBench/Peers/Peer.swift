/// Which failures a write survives after the call has returned.
enum Level: String, Codable, Sendable {
  /// The write survives a power failure of the machine.
  case durable
  /// The write survives a kill of the process. ``PeerKind/promise`` says whether the write survives a power failure.
  case unsynced = "no sync"
  /// The write is lost when the process ends.
  case memory
}

/// The lifetime of an entry that a workload writes.
enum Lifetime {
  case day
  /// The entry is already expired when it is written.
  case over
}

/// A store that the benchmark measures.
protocol Peer: Sendable {
  /// A new session for one thread.
  func session() throws -> any Session
  /// Reads the whole namespace and touches every value.
  func scan() throws -> Tally
  /// Removes the expired entries and returns their number.
  func purge() throws -> Int
  /// Removes every entry of the namespace.
  func clear() throws
  /// Sets the limit of the store to its present size, so that each new entry evicts an entry.
  func limit() throws
  /// Evicts `count` entries, which the store chooses. Works in steps, so that other operations can run between the steps.
  func evict(_ count: Int) throws
  /// Writes each piece in its own task, entry by entry. Returns the nanoseconds until all tasks have ended.
  func writeInTasks(_ pieces: [Order]) throws -> Double
  func close() throws
  /// The process id of the server of the peer; nil if the peer needs no server.
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

/// The use of a peer by one thread.
protocol Session {
  /// Reads entries one by one. Touches the bytes of each entry that has not expired.
  func read(_ order: Order) throws -> Tally
  /// Writes the entries of `order`: in one transaction, if the peer has transactions.
  func write(_ order: Order, lifetime: Lifetime) throws
  /// The nanoseconds of the last call, measured by a peer in another language; nil for other peers.
  var ownTime: Double? { get }
}

extension Session {
  var ownTime: Double? { nil }
}

/// The error of an operation that a peer cannot do, in this workload or in any workload. The report shows the reason.
struct Unsupported: Error {
  let reason: String

  init(_ reason: String) { self.reason = reason }
}

/// The error of a peer that fails.
struct Failure: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}
