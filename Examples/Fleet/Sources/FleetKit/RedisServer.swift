import Foundation
public import LarderRedis
public import LarderShared
import NIOCore
import NIOPosix
import Synchronization

/// The error of a server that does not start.
struct NoServer: Error, CustomStringConvertible { var description: String }

/// A redis-server of this process, on a free loopback port. The server ends when the last reference to this object is released.
public final class RedisServer: Sendable {
  /// The path of the program: `REDIS_SERVER` in the environment, or else the installed program; nil if there is no program.
  public static let program =
    (ProcessInfo.processInfo.environment["REDIS_SERVER"].map { [$0] }
    ?? ["/usr/bin", "/usr/local/bin", "/opt/homebrew/bin"].map { $0 + "/redis-server" })
    .first { FileManager.default.isExecutableFile(atPath: $0) }

  /// The TCP port on 127.0.0.1.
  public let port: Int
  /// The server's folder, which is removed with the server, unless ``keepsFolder`` is set.
  public let folder: String
  /// Whether the folder stays, for a later server with the same data.
  public var keepsFolder: Bool {
    get { isKept.load(ordering: .relaxed) }
    set { isKept.store(newValue, ordering: .relaxed) }
  }
  private let isKept = Atomic(false)
  private let process: Process

  /// Starts a server, and waits until it can be reached.
  ///
  /// - Parameters:
  ///   - configuration: lines of the server's configuration.
  ///   - port: the port; nil for a free port.
  ///   - folder: the folder of an earlier server, whose data the new server reads.
  public init(
    _ configuration: [String] = [], tls: Bool = false, port: Int? = nil, folder: String? = nil
  ) async throws {
    let folder = folder ?? NSTemporaryDirectory() + "/larder-redis-\(UUID().uuidString)"
    self.folder = folder
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    if let port { self.port = port } else { self.port = try await Self.freePort() }
    if tls { try Self.makeCertificate(in: folder) }
    let lines =
      [
        "bind 127.0.0.1", "dir \(folder)", "save \"\"", "appendonly no", "daemonize no",
        tls ? "port 0" : "port \(self.port)",
      ]
      + (tls
        ? [
          "tls-port \(self.port)", "tls-cert-file \(folder)/cert.pem",
          "tls-key-file \(folder)/key.pem", "tls-auth-clients no",
        ] : [])
      + configuration
    let file = folder + "/redis.conf"
    try lines.joined(separator: "\n").write(toFile: file, atomically: true, encoding: .utf8)
    process = Process()
    process.executableURL = URL(fileURLWithPath: Self.program ?? "/usr/bin/redis-server")
    process.arguments = [file]
    process.standardOutput = FileHandle.nullDevice
    try process.run()
    try await waitForPort()
  }

  deinit {
    kill()
    if keepsFolder { return }
    // Ignores errors: a folder that stays in the temporary directory does no harm.
    try? FileManager.default.removeItem(atPath: folder)
  }

  /// Ends the server immediately, as a crash does.
  public func kill() {
    Foundation.kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }

  /// Stops the server like a machine that hangs: the connections of the server stay open.
  public func suspend() { Foundation.kill(process.processIdentifier, SIGSTOP) }
  /// Continues the server after ``suspend()``.
  public func resume() { Foundation.kill(process.processIdentifier, SIGCONT) }

  /// A new sender to the server.
  public func sender(user: String? = nil, password: String? = nil) throws -> RedisSender {
    try RedisSender(host: "127.0.0.1", port: port, user: user, password: password)
  }

  private func waitForPort() async throws {
    for _ in 0..<1000 {
      if await Self.connects(to: port) { return }
      try await Task.sleep(for: .milliseconds(10))
    }
    throw NoServer(description: "redis-server does not listen on port \(port)")
  }

  /// A free port of at most 55,000, because the nodes of a cluster also use the port whose number is 10,000 higher.
  private static func freePort() async throws -> Int {
    while true {
      let port = try await anyFreePort()
      if port <= 55_000 { return port }
    }
  }

  private static func anyFreePort() async throws -> Int {
    let probe = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .bind(host: "127.0.0.1", port: 0).get()
    let port = probe.localAddress?.port ?? 0
    try await probe.close()
    return port
  }

  private static func connects(to port: Int) async -> Bool {
    do {
      try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
        .connect(host: "127.0.0.1", port: port).get().close()
      return true
    } catch {
      return false
    }
  }

  private static func makeCertificate(in folder: String) throws {
    let openssl = Process()
    openssl.executableURL = URL(fileURLWithPath: "/usr/bin/openssl")
    openssl.arguments = [
      "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
      "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost",
      "-keyout", folder + "/key.pem", "-out", folder + "/cert.pem",
    ]
    openssl.standardError = FileHandle.nullDevice
    try openssl.run()
    openssl.waitUntilExit()
  }
}

extension RedisSender {
  /// Runs a command of a server's administrator.
  public func run(_ words: String...) async throws -> Reply {
    try await send(Command(words.map { Array($0.utf8) }, timeout: .seconds(10)))
  }
}
