import Foundation

extension PeerKind {
  static let redis = PeerKind(
    id: "redis", name: "Redis, loopback",
    usage: "a server of its own over TCP; one GET a round trip, writes of a batch sent together",
    promise: [
      .durable: "appendfsync always: each write is on the disk",
      .unsynced: "appendfsync everysec: losing power loses a second or two",
    ],
    worksInBackground: true,
    missing: { Programs.path(of: "redis-server") == nil ? "redis-server is not installed" : nil },
    open: { site in try RedisPeer(site) })
}

/// A `redis-server` that the benchmark starts, with a minimal client.
final class RedisPeer: Peer {
  private let port: UInt16
  private let process: ChildProcess?
  private let data: Dataset

  var server: Int32? { process?.id }

  init(_ site: Site) throws {
    data = site.data
    let note = site.directory + "/port"
    if site.isAttached {
      guard let port = UInt16(try String(contentsOfFile: note, encoding: .utf8)) else {
        throw Failure("no server is noted in \(note)")
      }
      self.port = port
      process = nil
      return
    }
    try FileManager.default.createDirectory(
      atPath: site.directory, withIntermediateDirectories: true)
    port = try RedisConnection.freePort()
    process = try ChildProcess(
      Programs.path(of: "redis-server") ?? "redis-server",
      [
        "--port", String(port), "--bind", "127.0.0.1", "--dir", site.directory, "--save", "",
        "--appendonly", "yes", "--appendfsync", site.level == .durable ? "always" : "everysec",
        "--daemonize", "no", "--loglevel", "warning",
      ])
    try String(port).write(toFile: note, atomically: true, encoding: .utf8)
    try waitUntilReady()
  }

  /// Waits until the server answers. If data exist, the server loads the data first.
  private func waitUntilReady() throws {
    let deadline = ContinuousClock.now + .seconds(60)
    while true {
      do {
        if case .text = try RedisConnection(port: port).command("PING") { return }
      } catch {
        if ContinuousClock.now > deadline { throw error }
      }
      usleep(2000)
    }
  }

  func session() throws -> any Session {
    RedisSession(connection: try RedisConnection(port: port), data: data)
  }

  func scan() throws -> Tally {
    let connection = try RedisConnection(port: port)
    var tally = Tally()
    var cursor = "0"
    repeat {
      connection.append(
        parts: ["SCAN", cursor, "MATCH", "entries:*", "COUNT", "1000"].map { Array($0.utf8) })
      try connection.send()
      let keys = try connection.scanned(&cursor)
      if keys.isEmpty { continue }
      connection.append(parts: [Array("MGET".utf8)] + keys)
      try connection.send()
      guard case .list(let count) = try connection.reply() else {
        throw Failure("Redis sent no list")
      }
      for _ in 0..<count { try tally.touch(connection) }
    } while cursor != "0"
    return tally
  }

  func purge() throws -> Int { throw Unsupported("expires by itself in the background") }

  func clear() throws { try RedisConnection(port: port).command("FLUSHDB", "ASYNC") }

  func limit() throws {
    let connection = try RedisConnection(port: port)
    guard case .bytes(let range) = try connection.command("INFO", "memory") else {
      throw Failure("Redis sent no information")
    }
    let text = connection.withBytes(range) { String(decoding: $0, as: UTF8.self) }
    guard
      let line = text.split(whereSeparator: \.isNewline).first(where: {
        $0.hasPrefix("used_memory:")
      })
    else { throw Failure("Redis does not say how much it uses") }
    try connection.command(
      "CONFIG", "SET", "maxmemory", String(line.dropFirst("used_memory:".count)))
    try connection.command("CONFIG", "SET", "maxmemory-policy", "allkeys-lru")
  }

  func close() { process?.stop() }
}

private struct RedisSession: Session {
  let connection: RedisConnection
  let data: Dataset

  private static let prefix = Array("entries:".utf8)
  private static let get = Array("GET".utf8)
  private static let set = Array("SET".utf8)
  private static let lifetime = Array("PX".utf8)
  private static let day = Array("86400000".utf8)

  func read(_ order: Order) throws -> Tally {
    var tally = Tally()
    for index in order {
      connection.append(Self.get, Self.prefix + data.keys[Int(index)].utf8)
      try connection.send()
      try tally.touch(connection)
    }
    return tally
  }

  func write(_ order: Order, lifetime: Lifetime) throws {
    if lifetime == .over { throw Unsupported("expires by itself in the background") }
    for index in order {
      connection.append(
        Self.set, Self.prefix + data.keys[Int(index)].utf8, data.value(index), Self.lifetime,
        Self.day)
    }
    try connection.send()
    for _ in order {
      guard case .text = try connection.reply() else { throw Failure("Redis refused a write") }
    }
  }
}

extension Tally {
  fileprivate mutating func touch(_ connection: RedisConnection) throws {
    switch try connection.reply() {
    case .bytes(let range):
      found += 1
      sum &+= connection.withBytes(range) { Touch.sum($0) }
    case .nothing: break
    default: throw Failure("Redis sent no value")
    }
  }
}

extension RedisConnection {
  /// The answer to SCAN. Sets `cursor` to the next cursor, and returns some keys.
  fileprivate func scanned(_ cursor: inout String) throws -> [[UInt8]] {
    guard case .list(2) = try reply(), case .bytes(let next) = try reply() else {
      throw Failure("Redis sent no cursor")
    }
    cursor = withBytes(next) { String(decoding: $0, as: UTF8.self) }
    guard case .list(let count) = try reply() else { throw Failure("Redis sent no keys") }
    return try (0..<count).map { _ in
      guard case .bytes(let key) = try reply() else { throw Failure("Redis sent no key") }
      return withBytes(key) { Array($0) }
    }
  }
}
