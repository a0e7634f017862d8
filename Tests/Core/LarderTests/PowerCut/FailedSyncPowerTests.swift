import TestSupport

#if os(Linux)
  import Foundation
  import LarderPeer
  import Testing

  @testable import Larder

  /// Power cuts after one failed sync. Data that a writer reports as stored after this sync must survive the power cut.
  extension `Power cuts` {
    private static let isLong = TestSettings.trials > 1

    @Test(.timeLimit(.minutes(120)), arguments: PowerStage.chosen(Durability.allCases), [1, 2, 3])
    func `no success is told of data a failed sync lost`(level: Durability, processes: Int) throws {
      var random = SeededRNG(seed: PowerStage.seed &+ UInt64(processes))
      var (failures, misses) = (0, 0)
      var (tally, model) = (Tally(), PowerWork.Model())
      // In each round, a different sync of the writer fails. A short run begins at a random sync and skips six syncs each time.
      var number = Self.isLong ? 1 : Int.random(in: 1...7, using: &random)
      while true {
        guard let trace = try failing(number, level, processes, &random) else {
          // If other processes also write, a writer may make fewer syncs than `number`, or none. The test then tries sync 1.
          misses += 1
          if failures > 0 || misses > 20 { break }
          number = 1
          continue
        }
        failures += 1
        let comment = "\(level), \(processes), seed \(PowerStage.seed), sync \(number)"
        for arriving in [0, 0.5] {
          let loss = PowerDisk.Loss(
            arriving: arriving, seed: .random(in: 0...(.max), using: &random))
          var disk = PowerDisk(loss: loss)
          var promise = PowerPromise(canBeEmptied: level == .scratch)
          for (index, event) in trace.events.enumerated() {
            disk.apply(event)
            let lines = if case .say(let said) = event { said } else { [String]() }
            promise.hear(lines)
            // With several processes, another process may write before this process reports its number, so the check is omitted.
            #expect(
              !promise.foundTooFew || level == .scratch || processes > 1,
              "the store returned behind a sync: \(comment), event \(index)")
            guard index > trace.failure!, Self.isCut(lines, &random) else { continue }
            let luck = Bool.random(using: &random) ? .nothing : PowerDisk.luck(&random)
            try check(
              disk, luck, level, promise, boot: 2, "\(comment), event \(index), \(luck)", &model,
              &random, &tally)
          }
        }
        number += Self.isLong ? 1 : 7
      }
      PowerStage.report(
        "\(level) with \(processes): \(failures) failed syncs, \(tally.images) images, "
          + "\(tally.lossy) lost something")
      #expect(failures > 0)
    }

    /// A trace of the writers, in which the sync with this number fails in one writer. Nil if this writer makes fewer syncs.
    private func failing(
      _ number: Int, _ level: Durability, _ processes: Int, _ random: inout SeededRNG
    ) throws -> PowerTrace? {
      try withTemporaryDirectory { directory in
        let store = directory + "/store"
        let preloaded = try PowerRecorder.recording(store, in: store + ".trace")
        let peers = try (0..<processes).map { index in
          try PeerProcess(
            "power", store,
            [
              level.rawValue, "\(12 / processes + 3)",
              "\(Int.random(in: 0..<1_000_000, using: &random))", "1", "4",
            ], under: preloaded + (index == 0 ? ["LARDER_POWER_FAIL=\(number)"] : []))
        }
        for peer in peers {
          #expect(peer.lines().last == "end", "\(level), \(processes), sync \(number)")
        }
        let trace = try PowerTrace(store + ".trace")
        return trace.failure == nil ? nil : trace
      }
    }

    /// Whether to cut the power after these lines: after each report of a sync or a close, and at random points.
    private static func isCut(_ lines: [String], _ random: inout SeededRNG) -> Bool {
      lines.contains { $0.hasPrefix("sync ") || $0.hasPrefix("closed ") }
        || Int.random(in: 0..<30, using: &random) == 0
    }
  }
#endif
