import TestSupport

#if os(Linux)
  import Foundation
  import LarderPeer
  import Testing

  @testable import LMDB
  @testable import Larder

  @Suite(.serialized) struct `Power cuts` {
    private static let isLong = PowerStage.images >= 400

    struct Tally {
      var images = 0
      /// The number of images without a store. At these points of the trace, the store did not have to exist yet.
      var absent = 0
      var recovered = 0
      var lossy = 0
      var mostLost = 0
      var oldestLost = 0
    }

    @Test(.timeLimit(.minutes(60)), arguments: PowerStage.chosen(Durability.allCases), [1, 2])
    func `a store keeps its level's promise whatever a power cut leaves of it`(
      level: Durability, processes: Int
    ) throws {
      var random = SeededRNG(seed: PowerStage.seed &+ UInt64(processes))
      var (tally, model) = (Tally(), PowerWork.Model())
      let traces = max(1, PowerStage.images / 400)
      for _ in 0..<traces {
        try withTemporaryDirectory { directory in
          let trace = try record(
            directory + "/store", level, processes: processes, writes: Self.isLong ? 150 : 36,
            boot: 1, &random)
          try cut(
            trace, PowerDisk(), PowerPromise(), level, images: PowerStage.images / traces / 2 + 1,
            boot: 2, &model, &random, &tally)
        }
      }
      report("\(level) with \(processes)", tally)
      #expect(tally.images > PowerStage.images / 3, "seed \(PowerStage.seed)")
    }

    @Test(.timeLimit(.minutes(60)), arguments: PowerStage.chosen([.checkpointed, .scratch]))
    func `a power cut during the recovery from one costs nothing more`(level: Durability) throws {
      var random = SeededRNG(seed: PowerStage.seed)
      var (tally, model) = (Tally(), PowerWork.Model())
      for _ in 0..<max(2, PowerStage.images / 40) {
        try withTemporaryDirectory { directory in
          let trace = try record(
            directory + "/store", level, processes: 2, writes: 24, boot: 1, &random)
          let stop = Int.random(in: trace.events.count / 2..<trace.events.count, using: &random)
          var (disk, promise) = (PowerDisk(), PowerPromise())
          for event in trace.events[..<stop] {
            disk.apply(event)
            if case .say(let lines) = event { promise.hear(lines) }
          }
          let image = try #require(disk.image(PowerDisk.luck(&random), &random))
          let store = directory + "/again"
          let initial = try PowerStage.place(image, store)
          let again = try record(store, level, processes: 1, writes: 9, boot: 2, &random)
          try cut(
            again, PowerDisk(initial: initial), PowerPromise(after: promise, level), level,
            images: 20, boot: 3, &model, &random, &tally)
        }
      }
      report("\(level), cut again", tally)
      #expect(tally.images >= 40, "seed \(PowerStage.seed)")
    }

    private func report(_ what: String, _ tally: Tally) {
      PowerStage.report(
        "\(what): \(tally.images) images, \(tally.absent) before the store, \(tally.recovered) recovered, "
          + "\(tally.lossy) lost something, at most \(tally.mostLost) writes and \(tally.oldestLost) ms"
      )
    }

    private func record(
      _ store: String, _ level: Durability, processes: Int, writes: Int, boot: Int,
      _ random: inout SeededRNG
    ) throws -> PowerTrace {
      let trace = store + ".trace"
      let preloaded = try PowerRecorder.recording(store, in: trace)
      func start(_ more: [String]) throws -> PeerProcess {
        try PeerProcess(
          "power", store,
          [
            level.rawValue, "\(writes / processes)",
            "\(Int.random(in: 0..<1_000_000, using: &random))", "\(boot)", "25",
          ], under: preloaded + more)
      }
      var peers = try (0..<processes).map { _ in try start([]) }
      // In half of the runs with several processes, one more writer is killed at one of its writes, and a new writer replaces it.
      if processes > 1, Bool.random(using: &random) {
        let kill = Int.random(in: 5..<writes * 3, using: &random)
        let killed = try start(["LARDER_POWER_KILL=\(kill)"])
        while killed.line() != nil {}
        peers.append(try start([]))
      }
      for peer in peers {
        let lines = peer.lines()
        let failure = lines.first { line in
          ["dropped", "failed", "unsaved", "refused"].contains { line.hasPrefix($0) }
        }
        try #require(failure == nil && lines.last == "end", "\(failure ?? lines.last ?? "")")
      }
      return try PowerTrace(trace)
    }

    /// Builds images at random points of the trace and checks each image.
    private func cut(
      _ trace: PowerTrace, _ disk: PowerDisk, _ promise: PowerPromise, _ level: Durability,
      images: Int, boot: Int, _ model: inout PowerWork.Model, _ random: inout SeededRNG,
      _ tally: inout Tally
    ) throws {
      var (disk, promise) = (disk, promise)
      var cuts: [Int: Int] = [:]
      for _ in 0..<images {
        cuts[Int.random(in: 0...trace.events.count, using: &random), default: 0] += 1
      }
      for index in 0...trace.events.count {
        for _ in 0..<(cuts[index] ?? 0) {
          let luck = PowerDisk.luck(&random)
          let certain = disk.image(.nothing, &random)?["recovery"].flatMap(PowerStage.point)
          try check(
            disk, luck, level, promise, certain: certain ?? 0, boot: boot,
            "\(level), seed \(PowerStage.seed), event \(index) of \(trace.events.count), \(luck)",
            &model, &random, &tally)
        }
        if index < trace.events.count {
          disk.apply(trace.events[index])
          if case .say(let lines) = trace.events[index] { promise.hear(lines) }
        }
      }
    }

    /// Checks one possible state of the disk, and counts the state. `certain` is the transaction of a checkpoint on this disk.
    func check(
      _ disk: PowerDisk, _ luck: PowerDisk.Luck, _ level: Durability, _ promise: PowerPromise,
      certain: UInt64 = 0, boot: Int, _ comment: String, _ model: inout PowerWork.Model,
      _ random: inout SeededRNG, _ tally: inout Tally
    ) throws {
      tally.images += 1
      guard let image = disk.image(luck, &random), image["data.mdb"] != nil else {
        #expect(!promise.isOpen, "the store is gone: \(comment)")
        tally.absent += 1
        return
      }
      let store = PowerStage.directory + "/larder-power-\(UUID().uuidString)"
      try PowerStage.place(image, store)
      do {
        let fault = try check(store, level, promise, certain: certain, boot: boot, &model, &tally)
        #expect(fault == nil, "\(comment), left at \(store)")
        if fault == nil { try FileManager.default.removeItem(atPath: store) }
      } catch { Issue.record("\(error): \(comment), left at \(store)") }
    }

    private func check(
      _ path: String, _ level: Durability, _ promise: PowerPromise, certain: UInt64, boot: Int,
      _ model: inout PowerWork.Model, _ tally: inout Tally
    ) throws -> String? {
      let newest = try MetaImage.newest(of: path + "/data.mdb").transaction
      let store = try Store(at: path, options: PowerWork.options(boot: boot))
      if level != .scratch, store.engine.environment.lastTransaction < certain {
        return "older than the checkpoint"
      }
      if store.engine.environment.lastTransaction != newest { tally.recovered += 1 }
      let number = try PowerWork.number(in: store)
      guard promise.allows(number, level) else {
        return "batch \(number) is the last, at least \(promise.least(level)) were promised"
      }
      if number < promise.acknowledged {
        tally.lossy += 1
        tally.mostLost = max(tally.mostLost, promise.acknowledged - number)
        tally.oldestLost = max(tally.oldestLost, promise.age(ofLoss: number))
      }
      guard store.durability == level else { return "its level is \(store.durability)" }
      if let fault = try fault(in: store, &model) { return fault }
      for _ in 0..<3 { try PowerWork.write(to: store) }
      if let fault = try fault(in: store, &model) { return "after writing: \(fault)" }
      try store.close()
      let again = try Store(at: path, options: PowerWork.options(boot: boot + 1))
      if try PowerWork.number(in: again) != number + 3 { return "closing was not enough" }
      if let fault = try fault(in: again, &model) { return "after opening again: \(fault)" }
      try again.close()
      return nil
    }

    private func fault(in store: Store, _ model: inout PowerWork.Model) throws -> String? {
      if let difference = try model.difference(store) { return difference }
      return try store.verify().faults.first.map { "\($0)" }
    }
  }
#endif
