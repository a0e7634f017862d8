#if Redis
  public import Larder
  public import LarderShared
  import NIOCore
  public import NIOSSL
  import Synchronization

  /// The address of a server.
  public struct ServerAddress: Hashable, Sendable, CustomStringConvertible {
    /// A name or an IP address.
    public var host: String
    /// The TCP port.
    public var port: Int

    /// Makes an address from a host and a port.
    public init(_ host: String, _ port: Int = 6379) {
      self.host = host
      self.port = port
    }

    /// The host, a colon and the port.
    public var description: String { "\(host):\(port)" }
  }

  /// Sends commands to a Redis or Valkey server over one connection; commands that block have further connections.
  ///
  /// The server answers the commands of a connection in order. Each command that blocks has a connection of its own, so that the
  /// log of one store does not wait for the log of another store. At its timeout a command fails; a late reply is dropped.
  ///
  /// A sender with several addresses uses another server if its present server cannot be reached, is a replica, or loads its data.
  /// In a cluster the sender follows redirections. The keys of all commands must be in one slot, as an application's keys are.
  public final class RedisSender: CommandSender {
    private struct Route {
      var known: [ServerAddress]
      var current: ServerAddress
      var links: [ServerAddress: [Int: Link]] = [:]
      /// Whether a blocking command is under way in each lane except lane 0. A lane has one connection to each server.
      var lanes: [Bool] = []
      /// The addresses that a server has named but the caller has not, the oldest first.
      var learned: [ServerAddress] = []
      var isClosed = false

      /// The lane for a command. A command that blocks gets the first free lane except lane 0. Other commands get lane 0.
      mutating func enter(blocking: Bool) -> Int {
        guard blocking else { return 0 }
        let index = lanes.firstIndex(of: false) ?? lanes.count
        if index == lanes.count { lanes.append(true) } else { lanes[index] = true }
        return index + 1
      }

      mutating func leave(_ lane: Int) { if lane > 0 { lanes[lane - 1] = false } }

      /// Adds an address. If too many are learned then, forgets the oldest and returns its links, for the caller to close.
      mutating func learn(_ address: ServerAddress) -> [Link] {
        guard !known.contains(address) else { return [] }
        known.append(address)
        learned.append(address)
        guard learned.count > RedisSender.mostLearned,
          let index = learned.firstIndex(where: { $0 != current && $0 != address })
        else { return [] }
        let oldest = learned.remove(at: index)
        known.removeAll { $0 == oldest }
        return links.removeValue(forKey: oldest).map { Array($0.values) } ?? []
      }
    }

    private static let mostRedirections = 5
    private static let mostLearned = 16
    private let login: Login
    private let route: Mutex<Route>

    /// A sender for the server at an address. The sender connects at the first command.
    ///
    /// - Parameters:
    ///   - others: further addresses, such as replicas that may replace the server, or other nodes of a cluster.
    ///   - user: the user of the server's access control list; nil for the default user.
    ///   - password: the password, which no error shows; nil if the user has none.
    ///   - tls: the settings for TLS; nil for a connection without TLS.
    /// - Throws: `LarderError/Code/invalidArgument` for an invalid port, or for certificates or keys that cannot be read.
    public init(
      host: String, port: Int = 6379, others: [ServerAddress] = [], user: String? = nil,
      password: String? = nil, tls: TLSConfiguration? = nil
    ) throws(LarderError) {
      let address = ServerAddress(host, port)
      if let wrong = ([address] + others).first(where: { !(1...65_535).contains($0.port) }) {
        throw LarderError(
          .invalidArgument, "no server listens at port \(wrong.port) of \(wrong.host)",
          hint: "use 1 to 65535")
      }
      route = Mutex(Route(known: [address] + others, current: address))
      // At its close, NIOSSL would wait 5 s for an answer. A server that hangs gives none, and its link could not connect again.
      var tls = tls
      tls?.shutdownTimeout = .milliseconds(200)
      let isDefault = user == nil && password == nil
      let words = isDefault ? ["PING"] : ["AUTH", user, password ?? ""].compactMap(\.self)
      do {
        login = Login(
          words: words.map { Array($0.utf8) },
          tls: try tls.map { try NIOSSLContext(configuration: $0) })
      } catch {
        throw LarderError(
          .invalidArgument, "the TLS configuration for \(host) cannot be used: \(error)",
          hint: "check the paths of the certificates and the key")
      }
    }

    deinit { close() }

    var serverCount: Int { route.withLock { $0.links.count } }

    /// Ends the connections. Commands that wait fail, and all later commands fail, too.
    public func close() {
      let links = route.withLock { route in
        route.isClosed = true
        return route.links.values.flatMap(\.values)
      }
      for link in links { link.close() }
    }

    public func send(_ command: Command) async throws(LarderError) -> Reply {
      let lane = route.withLock { $0.enter(blocking: command.blocks) }
      defer { route.withLock { $0.leave(lane) } }
      var link = link(in: lane)
      var asking = false
      var tried: Set<ServerAddress> = []
      var command = command
      let end = ContinuousClock.now + command.timeout
      for _ in 0..<Self.mostRedirections {
        let reply: Reply
        do throws(LarderError) { reply = try await link.send(command, asking: asking) } catch {
          if error.code == .unreachable { leave(link.address) }
          throw error
        }
        guard case .failure(let message) = reply,
          let redirection = Redirection(message, from: link.address)
        else { return reply }
        asking = false
        // The time limit is for the whole command, even if several servers are asked.
        command.timeout = ContinuousClock.now.duration(to: end)
        switch redirection {
        case .moved(let address): link = self.link(to: address, stays: true, in: lane)
        case .ask(let address):
          asking = true
          link = self.link(to: address, in: lane)
        case .replica:
          guard leave(link.address), tried.insert(link.address).inserted else { return reply }
          link = self.link(in: lane)
        }
      }
      throw LarderError(
        .unreachable, "the servers redirected a command \(Self.mostRedirections) times",
        hint: "look at the state of the cluster with `redis-cli cluster nodes`")
    }

    /// The link to the server `named`; if nil, to the server in use. If `stays` is true, later commands use `named`, too.
    private func link(to named: ServerAddress? = nil, stays: Bool = false, in lane: Int) -> Link {
      let (link, forgotten) = route.withLock { route -> (Link, [Link]) in
        if let named, stays { route.current = named }
        let forgotten = named.map { route.learn($0) } ?? []
        let address = named ?? route.current
        if let link = route.links[address]?[lane] { return (link, forgotten) }
        let link = Link(address, login)
        if route.isClosed { link.close() }
        route.links[address, default: [:]][lane] = link
        return (link, forgotten)
      }
      for link in forgotten { link.close() }
      return link
    }

    /// Selects the next address for later commands, if `address` is still in use. Returns false if there is only one address.
    @discardableResult private func leave(_ address: ServerAddress) -> Bool {
      route.withLock { route in
        guard route.known.count > 1 else { return false }
        if route.current == address {
          let index = route.known.firstIndex(of: address) ?? 0
          route.current = route.known[(index + 1) % route.known.count]
        }
        return true
      }
    }
  }

  /// An error by which a server names another server, or says that another server takes writes.
  enum Redirection: Equatable {
    /// The slot of the keys has moved to another server, which gets all later commands.
    case moved(ServerAddress)
    /// The slot is moving to another server, which already has the keys of this command.
    case ask(ServerAddress)
    /// The server is a replica, loads its data, or waits for the other servers of its cluster.
    case replica

    /// Reads a redirection; nil for another error, and for an error whose address cannot be read.
    init?(_ message: String, from server: ServerAddress) {
      let words = Reply.serverError(in: message).split(separator: " ")
      switch words.first {
      case "READONLY", "MASTERDOWN", "CLUSTERDOWN", "LOADING": self = .replica
      case "MOVED", "ASK":
        guard words.count == 3, let colon = words[2].lastIndex(of: ":"),
          let port = Int(words[2][words[2].index(after: colon)...]), (1...65_535).contains(port)
        else { return nil }
        // An empty host means the host of the server that sent the reply.
        let host = words[2][..<colon]
        let address = ServerAddress(host.isEmpty ? server.host : String(host), port)
        self = words[0] == "ASK" ? .ask(address) : .moved(address)
      default: return nil
      }
    }
  }
#else
  @available(
    *, unavailable, message: "LarderRedis needs the trait Redis: .package(..., traits: [\"Redis\"])"
  )
  public struct RedisSender {}
#endif
