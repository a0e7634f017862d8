import Foundation
import LarderRedis
import LarderShared

/// Five machines over one server, with changes and faults, shown as a table that grows during the run.
public final class Demonstration {
  private static let machineCount = 5
  private static let keys = 300

  private let folder: String
  private let origin = Origin()
  private var primary: RedisServer
  private var replica: RedisServer
  private var machines: [MachineProcess] = []
  private var losses: [ClosedRange<Int>] = []
  private let program: String

  /// Runs the demonstration, in about half a minute. Throws if redis-server is missing.
  public static func run() async throws {
    guard RedisServer.program != nil else {
      throw NoServer(description: "redis-server is not installed; `make fleet` installs it")
    }
    try await Demonstration().run()
  }

  private init() async throws {
    folder = NSTemporaryDirectory() + "/larder-fleet-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    program = CommandLine.arguments[0]
    primary = try await RedisServer()
    replica = try await RedisServer()
    for index in 0..<Self.machineCount { machines.append(try machine(index)) }
  }

  deinit { try? FileManager.default.removeItem(atPath: folder) }

  private func machine(_ index: Int) throws -> MachineProcess {
    try MachineProcess(
      .init(
        program: program, store: "\(folder)/store\(index)", history: "\(folder)/history\(index)",
        ports: [primary.port, replica.port], machine: (index, Self.machineCount), keys: Self.keys,
        seed: 1), origin: origin)
  }

  private func run() async throws {
    print("One Redis, an origin that counts, and \(Self.machineCount) machines with a store each.")
    print("Each reads some 1,000 times a second and changes keys. The origin takes 20 ms.\n")
    print(Row.title)
    try await replicate()
    try await phase("the stores are empty", seconds: 3) { try await self.all("go") }
    try await phase("reads and changes", seconds: 4)
    try await phase("every connection is cut", seconds: 3) {
      let sender = try self.primary.sender()
      _ = try await sender.run("CLIENT", "KILL", "TYPE", "normal")
    }
    try await phase("Redis hangs for 2 s", seconds: 4) {
      self.primary.suspend()
      try await Task.sleep(for: .seconds(2))
      self.primary.resume()
    }
    try await phase("a machine's process is killed", seconds: 3) {
      self.machines[0].kill()
      self.machines[0] = try self.machine(0)
      _ = await self.machines[0].ask("go")
    }
    try await phase("Redis is flushed", seconds: 3) {
      _ = try await self.primary.sender().run("FLUSHALL")
    }
    try await phase("Redis is killed, empty after 2 s", seconds: 5) {
      self.primary.kill()
      try await Task.sleep(for: .seconds(2))
      self.primary = try await RedisServer(port: self.primary.port)
    }
    try await replicate()
    try await phase("failover, 1 s of changes is lost", seconds: 6) {
      let start = Call.now
      _ = try await self.replica.sender().run("REPLICAOF", "NO", "ONE")
      try await Task.sleep(for: .seconds(1))
      self.primary.kill()
      try await Task.sleep(for: .seconds(3))
      self.losses.append(start...Call.now)
    }
    try await all("rest")
    try await rush()
    let histories = try histories()
    let calls = histories.reduce(0) { $0 + $1.calls.count }
    let violations = Checker(histories, losses: losses).violations()
    print(
      "\n\(calls) calls of \(Self.machineCount) machines; \(violations.count) got an older value after a newer one,"
    )
    print("or a confirmed value that was out of date for more than 2 s.")
    for violation in violations.prefix(5) { print("  \(violation)") }
    for machine in machines { machine.kill() }
  }

  private func all(_ word: String) async throws {
    await withTaskGroup { group in
      for machine in machines { group.addTask { _ = await machine.ask(word) } }
    }
  }

  private func histories() throws -> [History] {
    try (0..<Self.machineCount).compactMap { index in
      let path = "\(folder)/history\(index)"
      return FileManager.default.fileExists(atPath: path) ? try History(readingFrom: path) : nil
    }
  }

  /// Makes the second server a replica of the first.
  private func replicate() async throws {
    _ = try await replica.sender().run("REPLICAOF", "127.0.0.1", "\(primary.port)")
    for _ in 0..<200 {
      let info = try await replica.sender().run("INFO", "replication").bytes ?? []
      if String(decoding: info, as: UTF8.self).contains("master_link_status:up") { return }
      try await Task.sleep(for: .milliseconds(50))
    }
  }

  /// Runs `action`, waits for the rest of the time, and prints a row.
  private func phase(
    _ name: String, seconds: Double, _ action: () async throws -> Void = {}
  ) async throws {
    let (start, requests) = (Call.now, origin.requests)
    try await action()
    let left = seconds - Double(Call.now - start) / 1e6
    if left > 0 { try await Task.sleep(for: .seconds(left)) }
    let histories = try histories()
    let time = start..<Call.now
    let row = Row(
      name: name,
      reads: histories.flatMap(\.calls).filter { $0.kind == .read && time.contains($0.start) },
      requests: origin.requests - requests,
      staleness: Checker(histories, losses: losses).worstStaleness(in: time))
    print(row.line)
  }

  /// Lets all machines ask for the same new keys at the same time.
  private func rush() async throws {
    print("\n100 new keys, asked for by all machines at once:")
    for (word, name) in [("rush", "with leases"), ("alone", "without leases")] {
      let before = origin.requests
      try await all(word)
      print("  \(name): \(origin.requests - before) requests to the origin")
    }
  }
}

private struct Row {
  static let title =
    "what happens                      reads  memory   disk   tier  loaded  stale  unconfirmed  origin  stalest read"

  var name: String
  var reads: [Call]
  var requests: Int
  var staleness: Int

  var line: String {
    func share(_ source: String) -> String {
      let count = reads.count { $0.source == source }
      return String(format: "%5.1f%%", 100 * Double(count) / Double(max(reads.count, 1)))
    }
    let unconfirmed = reads.count { !$0.isConfirmed }
    return [
      name.padding(toLength: 32, withPad: " ", startingAt: 0),
      String(format: "%6d", reads.count), share("memory"), share("disk"), share("shared"),
      " " + share("loaded"), share("stale"), String(format: "%12d", unconfirmed),
      String(format: "%7d", requests), String(format: "%10d ms", staleness / 1000),
    ].joined(separator: " ")
  }
}
