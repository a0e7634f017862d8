import Foundation

/// A peer in a run: its store, filled, and the main thread's session.
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

  /// Writes entries, up to 10,000 and 16 MB in a transaction; nothing of it is measured.
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

  /// Lets go of the store, which stays where it is.
  func close() throws {
    session = Closed()
    try peer.close()
  }

  func open() throws {
    peer = try kind.open(site)
    session = try peer.session()
  }

  /// Throws the store away and begins an empty one.
  func startOver() throws {
    try close()
    try FileManager.default.removeItemIfPresent(site.directory)
    try open()
  }

  /// Nanoseconds `body` takes of this contender's time.
  func time(on clock: RunClock = .wall, _ body: (any Session) throws -> Void) throws -> Double {
    let time = try self.clock(clock).time { try body(session) }
    return session.ownTime ?? time
  }

  /// The clock that can be used: this thread's time says nothing of a server's.
  func clock(_ wanted: RunClock) -> RunClock { peer.server == nil ? wanted : .wall }

  /// Nanoseconds a write takes: by the wall where it waits for the disk.
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
