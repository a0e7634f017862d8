import FleetKit
import Foundation

/// The program `fleet`: the demonstration, measurements and trials. `fleet machine ...` is one process of a machine.
@main struct Fleet {
  /// Keeps the main thread alive, because valgrind fails if the main thread ends.
  static func main() {
    let done = DispatchSemaphore(value: 0)
    Task.detached {
      do { try await run() } catch {
        print(error)
        exit(1)
      }
      done.signal()
    }
    done.wait()
  }

  private static func run() async throws {
    let arguments = Array(CommandLine.arguments.dropFirst())
    switch arguments.first {
    case "machine": try await runMachine(arguments)
    case "measure": try await Measurement.run(onlyRecords: arguments.dropFirst() == ["records"])
    case "count": try HitCount.run()
    case "hit" where arguments.count == 4:
      try await HitCount.hit(arguments[1], from: arguments[2], Int(arguments[3]) ?? 0)
    case "server":
      let numbers = arguments.dropFirst().compactMap { Int($0) }
      try await ServerCost.run(
        machines: numbers.first ?? 500, changes: numbers.dropFirst().first ?? 100)
    case "predict": Prediction.print(seed: arguments.dropFirst().first.flatMap { UInt64($0) } ?? 1)
    case "trial": try await runTrials(arguments.dropFirst().compactMap { UInt64($0) })
    case nil: try await Demonstration.run()
    default:
      print(
        """
        usage: fleet                        runs the demonstration
               fleet measure [records]      prints what requests, or the log's records alone, cost beside the plainest ones
               fleet count                  counts the instructions of hits, by valgrind
               fleet server [MACHINES [CHANGES]]
                                            prints what the log costs the server beside client tracking
               fleet predict [SEED]         prints the prediction
               fleet trial [SEED [COUNT]]   checks histories of machines under faults
        """)
      exit(2)
    }
  }

  /// Runs trials with successive seeds, and exits with 1 after a violation or a trial that did not end.
  private static func runTrials(_ numbers: [UInt64]) async throws {
    let seed = numbers.first ?? .random(in: 0..<1_000_000)
    let count = numbers.count > 1 ? numbers[1] : 1
    var isBroken = false
    for offset in 0..<max(count, 1) {
      let seed = seed &+ offset
      var faults: [String] = []
      let outcome: HistoryTrial.Outcome
      do {
        outcome = try await HistoryTrial.run(seed: seed, program: CommandLine.arguments[0]) {
          faults.append($0)
        }
      } catch {
        print("seed \(seed): did not end: \(error)")
        isBroken = true
        continue
      }
      let broken = outcome.violations + outcome.faults
      print(
        "seed \(seed): \(outcome.calls) calls, \(outcome.confirmedReads) confirmed reads, \(broken.count) violations"
      )
      if !broken.isEmpty { print((faults + broken.prefix(20)).joined(separator: "\n")) }
      isBroken = isBroken || !broken.isEmpty
    }
    exit(isBroken ? 1 : 0)
  }
}
