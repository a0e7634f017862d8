import Foundation
import Larder
import LarderShared
import LarderSharedTesting

/// The instructions of a hit with and without a tier, which `valgrind --tool=callgrind` counts. Other work of the machine does
/// not change these numbers.
public enum HitCount {
  private static let rounds = 10_000

  /// Prints the instructions of one hit of each kind, and the ratios.
  public static func run() throws {
    // Valgrind cannot read the debugging information of Swift programs, so it runs a copy without that information.
    let program = NSTemporaryDirectory() + "/larder-count-\(UUID().uuidString)"
    defer { try? FileManager.default.removeItem(atPath: program) }
    _ = try output(of: ["strip", "--strip-debug", "-o", program, CommandLine.arguments[0]])
    for place in ["memory", "disk"] {
      let local = try instructions(program, "local", place)
      let shared = try instructions(program, "shared", place)
      print(
        "hit from \(place), shared / local:", String(format: "%.2f", shared / local),
        String(format: "(%.0f / %.0f instructions)", shared, local))
    }
  }

  /// Reads one key again and again, for the count of instructions.
  ///
  /// - Parameters:
  ///   - kind: `local` or `shared`.
  ///   - place: `memory` or `disk`.
  public static func hit(_ kind: String, from place: String, _ count: Int) async throws {
    let memory: MemoryLimits = place == "memory" ? .default : .off
    let store = try Store.temporary()
    let local = store.cache(TextCodec(), in: "local", memory: memory)
    let shared = store.cache(
      TextCodec(), in: "shared", memory: memory, shared: Shared(MemoryTier()))
    try await local.set("value", for: "key")
    while try await !shared.result(for: "key", load: { "value" }).isConfirmed {
      try await Task.sleep(for: .milliseconds(10))
    }
    for _ in 0..<count {
      if kind == "local" {
        _ = try await local.value(for: "key") { "loaded" }
      } else {
        _ = try await shared.value(for: "key") { "loaded" }
      }
    }
  }

  /// The instructions of one hit: the difference between a long and a short run, divided by the additional reads.
  private static func instructions(
    _ program: String, _ kind: String, _ place: String
  ) throws -> Double {
    let totals = try [2 * rounds, rounds].map { count in
      let text = try output(of: [
        "valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", program, "hit", kind,
        place, "\(count)",
      ])
      guard let line = text.split(separator: "\n").last(where: { $0.contains("Collected") }),
        let total = line.split(separator: " ").last.flatMap({ Int($0) })
      else { throw NoServer(description: "valgrind does not count: \(text.suffix(500))") }
      return total
    }
    return Double(totals[0] - totals[1]) / Double(rounds)
  }

  private static func output(of command: [String]) throws -> String {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = command
    let output = Pipe()
    process.standardError = output
    try process.run()
    let bytes = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return String(decoding: bytes, as: UTF8.self)
  }
}
