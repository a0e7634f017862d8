import Foundation

/// A peer in a run: its filled store, and the session of the main thread.
final class Contender {
  let kind: PeerKind
  private(set) var site: Site
  private(set) var peer: any Peer
  private(set) var session: any Session

  /// Opens an empty store.
  init(_ kind: PeerKind, site: Site) throws {
    self.kind = kind
    self.site = site
    peer = try kind.open(site)
    session = try peer.session()
  }

  /// Writes entries, but does not measure the time. A transaction has up to 10,000 entries and 16 MB.
  func fill(_ entries: Range<UInt32>, lifetime: Lifetime = .day) throws {
    let durable = site.level == .durable
    if durable, !kind.hasBatches { try reopen(at: .unsynced) }
    let order = Orders.once(entries)
    let batch = min(10_000, max(1, (16 << 20) / site.data.entrySize))
    for start in stride(from: 0, to: order.count, by: batch) {
      try session.write(order[start..<min(start + batch, order.count)], lifetime: lifetime)
    }
    if durable, !kind.hasBatches { try reopen(at: .durable) }
  }

  func reopen(at level: Level? = nil) throws {
    try close()
    if let level { site.level = level }
    peer = try kind.open(site)
    session = try peer.session()
  }

  /// Closes the store. Does not remove its files.
  func close() throws {
    session = Closed()
    try peer.close()
  }

  func open() throws {
    peer = try kind.open(site)
    session = try peer.session()
  }

  /// Removes the store and creates an empty one.
  func startOver() throws {
    try close()
    try FileManager.default.removeItemIfPresent(site.directory)
    try open()
  }

  /// The nanoseconds of `body`. If the peer measures the time itself, that time is the result.
  func time(on clock: RunClock = .wall, _ body: (any Session) throws -> Void) throws -> Double {
    let time = try self.clock(clock).time { try body(session) }
    return session.ownTime ?? time
  }

  /// The clock to use. The processor time of this thread does not include the work of a server, so a server needs the wall clock.
  func clock(_ wanted: RunClock) -> RunClock { peer.server == nil ? wanted : .wall }

  /// The nanoseconds of a write. The wall clock is used if the write waits for the disk.
  func timeWrite(on clock: RunClock, _ order: Order) throws -> Double {
    try time(on: site.level == .durable ? .wall : clock) { try $0.write(order, lifetime: .day) }
  }

  private struct Closed: Session {
    func read(_ order: Order) throws -> Tally { throw Failure("the store is closed") }
    func write(_ order: Order, lifetime: Lifetime) throws { throw Failure("the store is closed") }
  }
}

extension FileManager {
  func removeItemIfPresent(_ path: String) throws {
    if fileExists(atPath: path) { try removeItem(atPath: path) }
  }
}
