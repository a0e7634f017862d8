import TestSupport

#if os(Linux)
  import Foundation
  import LarderPeer
  import Testing

  @testable import Larder

  /// The writes that the store had reported to each task as done, at one point of a trace. The tasks share commits.
  private struct GroupPromise {
    private(set) var isOpen = false
    /// For each task: `acknowledged` is the number of writes reported as done, `synced` the number that a sync or close covers.
    private(set) var acknowledged: [Int: Int] = [:]
    private(set) var synced: [Int: Int] = [:]
    private(set) var isClosed = false
    private var syncing: [Int: Int] = [:]

    mutating func hear(_ lines: [String]) {
      for line in lines {
        let words = line.split(separator: " ")
        switch words[0] {
        case "open": isOpen = true
        case "ack": acknowledged[Int(words[1])!] = Int(words[2])! + 1
        case "syncing": syncing = acknowledged
        case "synced": synced = syncing
        case "closed": (synced, isClosed) = (acknowledged, true)
        default: break
        }
      }
    }

    /// The smallest number of writes of a task that the store must have.
    func least(_ task: Int, _ level: Durability) -> Int {
      (level == .durable ? acknowledged : synced)[task] ?? 0
    }
  }

  extension `Power cuts` {
    private static let (tasks, writes) = (12, 16)

    @Test(.timeLimit(.minutes(60)), arguments: PowerStage.chosen(Durability.allCases))
    func `tasks that share commits keep what they were told of`(level: Durability) throws {
      var random = SeededRNG(seed: PowerStage.seed)
      var (checked, opened, lossy) = (0, 0, 0)
      for _ in 0..<max(1, PowerStage.images / 200) {
        try withTemporaryDirectory { directory in
          let store = directory + "/store"
          let peer = try PeerProcess(
            "power-group", store, [level.rawValue, "\(Self.tasks)", "\(Self.writes)", "1"],
            under: try PowerRecorder.recording(store, in: store + ".trace"))
          try #require(peer.lines().last == "closed")
          let trace = try PowerTrace(store + ".trace")
          for _ in 0..<min(100, PowerStage.images / 2) {
            let stop = Int.random(in: 0...trace.events.count, using: &random)
            var (disk, promise) = (PowerDisk(), GroupPromise())
            for event in trace.events[..<stop] {
              disk.apply(event)
              if case .say(let lines) = event { promise.hear(lines) }
            }
            let luck = PowerDisk.luck(&random)
            let comment =
              "\(level), seed \(PowerStage.seed), event \(stop) of \(trace.events.count), \(luck)"
            checked += 1
            guard let image = disk.image(luck, &random), image["data.mdb"] != nil else {
              #expect(!promise.isOpen, "the store is gone: \(comment)")
              continue
            }
            opened += 1
            let (fault, isLossy) = try check(image, promise, level)
            #expect(fault == nil, "\(comment)")
            if isLossy { lossy += 1 }
          }
        }
      }
      PowerStage.report("\(level) in groups: \(checked) images, \(lossy) lost something")
      #expect(3 * opened > checked)
    }

    private func check(
      _ image: [String: [UInt8]], _ promise: GroupPromise, _ level: Durability
    ) throws -> (fault: String?, isLossy: Bool) {
      let path = PowerStage.directory + "/larder-power-\(UUID().uuidString)"
      defer { try? FileManager.default.removeItem(atPath: path) }
      try PowerStage.place(image, path)
      let store = try Store(at: path, options: PowerWork.options(boot: 2))
      defer { try? store.close() }
      let notes = store.namespace(GroupWork.namespace)
      var (isLossy, found) = (false, 0)
      var missing: String?
      for task in 0..<Self.tasks {
        var count = 0
        while let value = try notes.bytes(GroupWork.key(task, count)) {
          if value != GroupWork.value(task, count) { return ("\(task) \(count) is wrong", false) }
          count += 1
        }
        found += count
        let told = promise.acknowledged[task] ?? 0
        if count > told + 1 { return ("task \(task) has written \(count), it said \(told)", false) }
        if count < promise.least(task, level) {
          missing = "of task \(task) there are \(count) writes, and it was told \(told) are done"
        }
        isLossy = isLossy || count < told
      }
      let isEmptied = level == .scratch && found == 0 && !promise.isClosed
      if let missing, !isEmptied { return (missing, true) }
      // The writes of each task have no gap, so the store must have no other entries.
      if try notes.count() != found { return ("there are \(try notes.count()) entries", isLossy) }
      if let fault = try store.verify().faults.first { return ("\(fault)", isLossy) }
      try notes.set("after", for: "after")
      return (try store.verify().faults.first.map { "after writing: \($0)" }, isLossy)
    }

    @Test(arguments: Durability.allCases)
    func `a shell's writes outlast power cuts, its reads write nothing`(level: Durability) throws {
      try withTemporaryDirectory { directory in
        let path = directory + "/store"
        try Store.leave("of the application", at: path, Store.Options(durability: level))
        var disk = PowerDisk(initial: try PowerStage.files(of: path))
        let writing = try shell(path, ["-e", "set @notes second 'of the shell'"])
        for event in writing.trace.events { disk.apply(event) }
        let reading = try shell(path, ["--read-only", "-e", "get @notes second", "-e", "stats"])
        #expect(reading.answer.contains("of the shell"))
        #expect(reading.answer.contains("durability\t\(level)"))
        #expect(
          reading.trace.events.allSatisfy { event in if case .say = event { true } else { false } })
        var random = SeededRNG(seed: PowerStage.seed)
        let image = try #require(disk.image(.nothing, &random))
        try PowerStage.place(image, directory + "/image")
        let left = try Store(at: directory + "/image", options: PowerWork.options(boot: 2))
        #expect(left.durability == level)
        #expect(try left.namespace("notes").text("k") == "of the application")
        #expect(try left.namespace("notes").text("second") == "of the shell")
        try left.verifyAndClose()
      }
    }

    private func shell(
      _ store: String, _ arguments: [String]
    ) throws -> (answer: String, trace: PowerTrace) {
      let trace = store + ".trace-\(UUID().uuidString)"
      let (status, answer) = try Process.output(
        of: PowerRecorder.recording(store, in: trace) + [PowerStage.program("larder"), store]
          + arguments, errors: .standardError)
      #expect(status == 0, "\(answer)")
      return (answer, try PowerTrace(trace))
    }
  }
#endif
