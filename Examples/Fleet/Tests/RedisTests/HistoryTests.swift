import FleetKit
import Foundation
import Larder
import LarderShared
import Testing

private let isInstalled = RedisServer.program != nil
private let needsServer: Comment = "skipped: redis-server is not installed"

/// Processes with stores of their own, under faults that a seed chooses: no call gets an older value after a newer one, and no
/// confirmed value is out of date for more than two seconds. `LARDER_SEED` repeats a run, `LARDER_TRIALS` makes it longer.
@Suite(.enabled(if: isInstalled, needsServer), .serialized) struct HistoryTests {
  private static let environment = ProcessInfo.processInfo.environment
  private static let machineCount = 3

  private enum Fault: CaseIterable {
    case connectionsCut, hang, flush, killWithData, killWithoutData, processKilled, processStopped
    case failover
  }

  @Test func noCallGetsAnOlderValueAfterANewerOne() async throws {
    let seed = Self.environment["LARDER_SEED"].flatMap { UInt64($0) } ?? .random(in: 0..<1_000_000)
    print("LARDER_SEED=\(seed)")
    let rounds = Self.environment["LARDER_TRIALS"].flatMap { Int($0) } ?? 1
    var faults = (0..<rounds).flatMap { _ in Fault.allCases }
    var rng = Seeded(state: seed)
    faults.shuffle(using: &rng)
    let fleet = try await TestFleet(machines: Self.machineCount, seed: seed)
    try await fleet.all("go")
    try await Task.sleep(for: .seconds(1))
    for fault in faults {
      let start = Call.now
      try await inflict(fault, on: fleet, &rng)
      print("\(start) to \(Call.now): \(fault)")
    }
    try await fleet.settle()
    try await fleet.all("rest")
    let histories = try fleet.histories()
    let calls = histories.map(\.calls.count).reduce(0, +)
    print("\(calls) calls of \(histories.count) machines, \(faults.count) faults")
    #expect(calls > 1000, "the machines work")
    let confirmed = histories.flatMap(\.calls).count { $0.kind == .read && $0.isConfirmed }
    #expect(confirmed > calls / 4, "most of the time they are in touch")
    let violations = Checker(histories, losses: fleet.losses).violations()
    #expect(violations.prefix(5) == [], "LARDER_SEED=\(seed), \(violations.count) violations")
    try await fleet.verify()
  }

  private func inflict(_ fault: Fault, on fleet: TestFleet, _ rng: inout Seeded) async throws {
    let moment = Duration.milliseconds(Int.random(in: 100...1000, using: &rng))
    switch fault {
    case .connectionsCut:
      for _ in 0..<5 {
        _ = try await fleet.primary.sender().run("CLIENT", "KILL", "TYPE", "normal")
        try await Task.sleep(for: .milliseconds(200))
      }
    case .hang:
      fleet.primary.suspend()
      try await Task.sleep(for: moment * 3)
      fleet.primary.resume()
    case .flush: _ = try await fleet.primary.sender().run("FLUSHALL")
    case .killWithData:
      fleet.primary.kill()
      try await Task.sleep(for: moment)
      try await fleet.restart(keepsData: true)
    case .killWithoutData:
      fleet.primary.kill()
      try await Task.sleep(for: moment)
      try await fleet.restart(keepsData: false)
    case .processKilled:
      let index = Int.random(in: 0..<Self.machineCount, using: &rng)
      try await fleet.replaceProcess(of: index)
    case .processStopped:
      let index = Int.random(in: 0..<Self.machineCount, using: &rng)
      fleet.machines[index].suspend()
      try await Task.sleep(for: moment * 3)
      fleet.machines[index].resume()
    case .failover: try await fleet.failOver(after: moment)
    }
    try await Task.sleep(for: moment)
  }
}

private struct Seeded: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}

/// Machines, a primary with a log of its own on disk, and a replica. The first machine has two processes.
private final class TestFleet {
  private static let durable = ["appendonly yes", "appendfsync always"]

  let folder = NSTemporaryDirectory() + "/larder-histories-\(UUID().uuidString)"
  let origin = Origin()
  let seed: UInt64
  var primary: RedisServer
  var replica: RedisServer
  var machines: [MachineProcess] = []
  var losses: [ClosedRange<Int>] = []

  init(machines count: Int, seed: UInt64) async throws {
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    self.seed = seed
    primary = try await RedisServer(Self.durable)
    replica = try await RedisServer(Self.durable)
    try await follow()
    for index in 0..<count { machines.append(try process(of: index, count: count)) }
    machines.append(try process(of: 0, count: count, second: true))
  }

  deinit { try? FileManager.default.removeItem(atPath: folder) }

  private func process(of index: Int, count: Int, second: Bool = false) throws -> MachineProcess {
    let program = URL(fileURLWithPath: CommandLine.arguments[0])
    let builds = [program.deletingLastPathComponent().path + "/fleet", Self.build + "/fleet"]
    return try MachineProcess(
      .init(
        program: builds.first { FileManager.default.isExecutableFile(atPath: $0) } ?? builds[1],
        store: "\(folder)/store\(index)",
        history: "\(folder)/history\(index)\(second ? "b" : "")",
        ports: [primary.port, replica.port], machine: (index, count), keys: 40,
        seed: seed &+ (second ? 1 : 0), changes: !second), origin: origin)
  }

  /// Where `swift build` puts programs, seen from a test that runs in the package's folder.
  private static let build = FileManager.default.currentDirectoryPath + "/.build/debug"

  func all(_ word: String) async throws {
    await withTaskGroup { group in
      for machine in machines { group.addTask { _ = await machine.ask(word) } }
    }
  }

  func replaceProcess(of index: Int) async throws {
    machines[index].kill()
    machines[index] = try process(of: index, count: machines.count - 1)
    _ = await machines[index].ask("go")
  }

  func restart(keepsData: Bool) async throws {
    let (port, folder) = (primary.port, primary.folder)
    primary.keepsFolder = keepsData
    primary = try await RedisServer(
      Self.durable, port: port, folder: keepsData ? folder : nil)
  }

  /// The replica takes over while the primary goes on for a while, and loses what that was told.
  func failOver(after moment: Duration) async throws {
    try await follow()
    let start = Call.now
    _ = try await replica.sender().run("REPLICAOF", "NO", "ONE")
    try await Task.sleep(for: moment)
    primary.kill()
    try await settle()
    losses.append(start...Call.now)
    // The old primary comes back as the replica of the new one.
    let old = primary
    primary = replica
    replica = try await RedisServer(Self.durable, port: old.port)
    try await follow()
  }

  private func follow() async throws {
    _ = try await replica.sender().run("REPLICAOF", "127.0.0.1", "\(primary.port)")
    try await poll {
      let info = try await self.replica.sender().run("INFO", "replication").bytes ?? []
      return String(decoding: info, as: UTF8.self).contains("master_link_status:up")
    }
  }

  /// Waits until all machines are in touch, and no removal waits.
  func settle() async throws {
    for machine in machines { try await poll { await machine.ask("waits") == "0 true" } }
    // What was confirmed before has ended.
    try await Task.sleep(for: .milliseconds(2100))
    for machine in machines { try await poll { await machine.ask("waits") == "0 true" } }
  }

  func histories() throws -> [History] {
    try (0..<machines.count - 1).map { index in
      var history = try History(readingFrom: "\(folder)/history\(index)")
      if index == 0 {
        history.calls += try History(readingFrom: "\(folder)/history\(index)b").calls
      }
      return history
    }
  }

  func verify() async throws {
    let count = machines.count - 1
    for machine in machines { machine.kill() }
    machines = []
    for index in 0..<count {
      #expect(try Store(at: "\(folder)/store\(index)").verify().faults == [])
    }
  }
}
