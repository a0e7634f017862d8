import FleetKit
import Foundation
import Testing

private let isInstalled = RedisServer.program != nil
private let needsServer: Comment = "skipped: redis-server is not installed"

/// Processes with their own stores, under faults that a seed selects. No call gets an older value after a newer value, and no
/// confirmed value is out of date for more than two seconds. `LARDER_SEED` repeats a run, and `LARDER_TRIALS` extends a run.
@Suite(.enabled(if: isInstalled, needsServer), .serialized) struct HistoryTests {
  private static let environment = ProcessInfo.processInfo.environment

  @Test func noCallGetsAnOlderValueAfterANewerOne() async throws {
    try await run(HistoryTrial.Fault.allCases, rounds: 1)
  }

  @Test func aReaderOfTheLogThatIsKilledLosesNoChange() async throws {
    try await run([.readerKilled], rounds: 10)
  }

  private func run(_ faults: [HistoryTrial.Fault], rounds: Int) async throws {
    let seed = Self.environment["LARDER_SEED"].flatMap { UInt64($0) } ?? .random(in: 0..<1_000_000)
    let trials = Self.environment["LARDER_TRIALS"].flatMap { Int($0) } ?? 1
    let outcome = try await HistoryTrial.run(
      seed: seed, faults: faults, rounds: rounds * trials, program: Self.program
    ) { print($0) }
    print("LARDER_SEED=\(seed): \(outcome.calls) calls, \(outcome.confirmedReads) confirmed reads")
    #expect(outcome.calls > 1000, "the machines work")
    #expect(outcome.confirmedReads > outcome.calls / 4, "most of the time they are in touch")
    #expect(
      outcome.violations.prefix(5) == [],
      "LARDER_SEED=\(seed), \(outcome.violations.count) violations")
    #expect(outcome.faults == [])
  }

  /// The path of `fleet`: in the folder of the tests, or else in `.build/debug` of the current folder.
  private static var program: String {
    let beside = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent().path
    let builds = [beside, FileManager.default.currentDirectoryPath + "/.build/debug"]
    return builds.map { $0 + "/fleet" }
      .first { FileManager.default.isExecutableFile(atPath: $0) } ?? "fleet"
  }

  /// The checker finds the calls that break the promise.
  @Test func theCheckerFindsOlderValuesAndValuesOutOfDate() {
    func read(_ start: Int, _ value: Int, _ isConfirmed: Bool = true) -> Call {
      Call(
        kind: .read, start: start, end: start + 10, key: 1, value: value, source: "disk",
        isConfirmed: isConfirmed)
    }
    func violations(_ calls: [Call], losses: [ClosedRange<Int>] = []) -> Int {
      Checker([History(calls)], losses: losses).violations().count
    }
    #expect(violations([read(0, 2), read(20, 2), read(40, 3)]) == 0)
    #expect(violations([read(0, 2), read(20, 1)]) == 1)
    #expect(violations([read(0, 2), read(5, 1)]) == 0, "the calls overlap")
    #expect(violations([read(0, 2, false), read(20, 1)]) == 0, "the newer one was not confirmed")
    #expect(violations([read(0, 2), read(100, 1)], losses: [50...60]) == 0)
    let write = Call(kind: .write, start: 0, end: 10, key: 1, value: 5)
    #expect(violations([write, read(1_000_000, 4)]) == 0, "it may take two seconds")
    #expect(violations([write, read(3_000_000, 4)]) == 1)
    #expect(violations([write, read(3_000_000, 4, false)]) == 0)
  }
}
