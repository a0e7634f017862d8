import FleetKit
import Foundation

/// `fleet` runs the demonstration; `fleet machine …` is one process of it.
@main struct Fleet {
  static func main() async throws {
    let arguments = Array(CommandLine.arguments.dropFirst())
    switch arguments.first {
    case "machine": try await runMachine(arguments)
    case "predict": Prediction.print(seed: arguments.dropFirst().first.flatMap { UInt64($0) } ?? 1)
    case nil: try await Demonstration.run()
    default:
      print(
        "usage: fleet            runs the demonstration\n       fleet predict [SEED]  prints the prediction"
      )
      exit(2)
    }
  }
}
