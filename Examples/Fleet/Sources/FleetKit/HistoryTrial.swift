import Foundation
import Larder
import LarderRedis
import LarderShared

/// Three machines, the first with two processes, over a primary and a replica. A seed selects the faults.
///
/// Each process records its calls, and ``Checker`` compares them with the promise.
public final class HistoryTrial {
  /// The results of a trial.
  public struct Outcome: Sendable {
    /// The number of calls that the machines made.
    public var calls = 0
    /// The number of reads with a confirmed value.
    public var confirmedReads = 0
    /// The calls that break the promise.
    public var violations: [String] = []
    /// The stores with faults after the trial.
    public var faults: [String] = []
  }

  /// A fault of the server or of a process.
  public enum Fault: CaseIterable, Sendable {
    /// The server loses its connections, stops for a while, or loses all data.
    case connectionsCut, hang, flush
    /// The server is killed and starts again, with or without its data.
    case killWithData, killWithoutData
    /// A process is killed and replaced, or is stopped for a while.
    case processKilled, processStopped
    /// The process that reads the log for the first machine is killed and replaced.
    case readerKilled
    /// The replica becomes the primary.
    case failover
  }

  private static let machineCount = 3
  private static let durable = ["appendonly yes", "appendfsync always"]

  private let folder = NSTemporaryDirectory() + "/larder-histories-\(UUID().uuidString)"
  private let origin = Origin()
  private let seed: UInt64
  private let program: String
  private var choice: Choice
  private var primary: RedisServer
  private var replica: RedisServer
  private var machines: [MachineProcess] = []
  private var losses: [ClosedRange<Int>] = []

  /// Runs one trial, in about two seconds for each fault.
  ///
  /// - Parameters:
  ///   - faults: the faults of a round.
  ///   - rounds: how often each fault happens.
  ///   - program: the path of the program `fleet`.
  ///   - report: gets a line for each fault.
  public static func run(
    seed: UInt64, faults: [Fault] = Fault.allCases, rounds: Int = 1, program: String,
    report: (String) -> Void
  ) async throws -> Outcome {
    let trial = try await HistoryTrial(seed: seed, program: program)
    return try await trial.run((0..<rounds).flatMap { _ in faults }, report)
  }

  private init(seed: UInt64, program: String) async throws {
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    self.seed = seed
    self.program = program
    choice = Choice(seed)
    primary = try await RedisServer(Self.durable)
    replica = try await RedisServer(Self.durable)
    try await follow()
    for index in 0..<Self.machineCount { machines.append(try process(of: index)) }
    machines.append(try process(of: 0, isSecond: true))
  }

  deinit {
    // Ignores errors: a folder that stays in the temporary directory does no harm.
    try? FileManager.default.removeItem(atPath: folder)
  }

  private func run(_ chosen: [Fault], _ report: (String) -> Void) async throws -> Outcome {
    var faults = chosen
    for index in faults.indices.dropFirst().reversed() {
      faults.swapAt(index, choice.next(index + 1))
    }
    try await all("go")
    try await Task.sleep(for: .seconds(1))
    for fault in faults {
      let start = Call.now
      try await inflict(fault)
      report("\(start) to \(Call.now): \(fault)")
    }
    try await settle()
    try await all("rest")
    let histories = try histories()
    var outcome = Outcome()
    outcome.calls = histories.map(\.calls.count).reduce(0, +)
    outcome.confirmedReads =
      histories.flatMap(\.calls).count { $0.kind == .read && $0.isConfirmed }
    outcome.violations = Checker(histories, losses: losses).violations()
    for machine in machines { machine.kill() }
    machines = []
    for index in 0..<Self.machineCount {
      outcome.faults += try Store(at: "\(folder)/store\(index)").verify().faults.map { "\($0)" }
    }
    return outcome
  }

  private func inflict(_ fault: Fault) async throws {
    let moment = Duration.milliseconds(100 + choice.next(900))
    switch fault {
    case .connectionsCut:
      for _ in 0..<5 {
        _ = try await primary.sender().run("CLIENT", "KILL", "TYPE", "normal")
        try await Task.sleep(for: .milliseconds(200))
      }
    case .hang:
      primary.suspend()
      try await Task.sleep(for: moment * 3)
      primary.resume()
    case .flush: _ = try await primary.sender().run("FLUSHALL")
    case .killWithData: try await restart(after: moment, keepsData: true)
    case .killWithoutData: try await restart(after: moment, keepsData: false)
    case .processKilled: try await replaceProcess(choice.next(Self.machineCount))
    case .readerKilled:
      let reader = try SharedStatus(of: Store(at: "\(folder)/store0"))?.reader
      try await replaceProcess(machines.firstIndex { $0.identifier == reader } ?? 0)
    case .processStopped:
      let index = choice.next(Self.machineCount)
      machines[index].suspend()
      try await Task.sleep(for: moment * 3)
      machines[index].resume()
    case .failover: try await failOver(after: moment)
    }
    try await Task.sleep(for: moment)
  }

  private func replaceProcess(_ index: Int) async throws {
    machines[index].kill()
    let isSecond = index == Self.machineCount
    machines[index] = try process(of: isSecond ? 0 : index, isSecond: isSecond)
    _ = await machines[index].ask("go")
  }

  private func process(of index: Int, isSecond: Bool = false) throws -> MachineProcess {
    try MachineProcess(
      .init(
        program: program, store: "\(folder)/store\(index)",
        history: "\(folder)/history\(index)\(isSecond ? "b" : "")",
        ports: [primary.port, replica.port], machine: (index, Self.machineCount), keys: 40,
        seed: seed &+ (isSecond ? 1 : 0), changes: !isSecond), origin: origin)
  }

  private func all(_ word: String) async throws {
    await withTaskGroup { group in
      for machine in machines { group.addTask { _ = await machine.ask(word) } }
    }
  }

  private func restart(after moment: Duration, keepsData: Bool) async throws {
    primary.kill()
    try await Task.sleep(for: moment)
    let (port, folder) = (primary.port, primary.folder)
    primary.keepsFolder = keepsData
    primary = try await RedisServer(
      Self.durable, port: port, folder: keepsData ? folder : nil)
  }

  /// Promotes the replica while the primary still runs for a while. The changes that the primary takes in this time are lost.
  private func failOver(after moment: Duration) async throws {
    try await follow()
    let start = Call.now
    _ = try await replica.sender().run("REPLICAOF", "NO", "ONE")
    try await Task.sleep(for: moment)
    primary.kill()
    try await settle()
    losses.append(start...Call.now)
    let old = primary
    primary = replica
    // The new server must be a replica from its start, because a primary would take changes and then lose these changes.
    replica = try await RedisServer(
      Self.durable + ["replicaof 127.0.0.1 \(primary.port)"], port: old.port)
    try await follow()
  }

  private func follow() async throws {
    _ = try await replica.sender().run("REPLICAOF", "127.0.0.1", "\(primary.port)")
    try await wait("the replica does not follow") {
      let info = try await replica.sender().run("INFO", "replication").bytes ?? []
      return String(decoding: info, as: UTF8.self).contains("master_link_status:up")
    }
  }

  /// Waits until all machines read the log of the tier, and no removal waits.
  private func settle() async throws {
    for _ in 0..<2 {
      for machine in machines {
        try await wait("a machine stays out of touch") { await machine.ask("waits") == "0 true" }
      }
      // A confirmation lasts for two seconds, so after this pause no earlier confirmation is valid.
      try await Task.sleep(for: .milliseconds(2100))
    }
  }

  private func wait(_ failure: String, until condition: () async throws -> Bool) async throws {
    for _ in 0..<3000 {
      if try await condition() { return }
      try await Task.sleep(for: .milliseconds(10))
    }
    throw NoServer(description: "\(failure) (LARDER_SEED=\(seed))")
  }

  private func histories() throws -> [History] {
    try (0..<Self.machineCount).map { index in
      var history = try History(readingFrom: "\(folder)/history\(index)")
      if index == 0 { history.calls += try History(readingFrom: "\(folder)/history0b").calls }
      return history
    }
  }
}
