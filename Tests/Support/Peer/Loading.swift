import Dispatch
import Foundation
import Larder
import Synchronization
import TestSupport

extension Peer {
  /// The time of the machine in tests of leases. This time is the same in all peers, and never changes.
  static let machineTime: Int64 = 1_000_000

  private func cache() throws -> Cache<String> {
    let options = with(Store.Options()) { $0.hooks.machineClock = { Self.machineTime } }
    return try Store(at: store, options: options).cache(TextCodec(), in: "boards")
  }

  /// Loads a key under a policy. The load prints `loading` and returns the next line of input, but throws after the line `fail`.
  func loadOne() throws {
    let boards = try cache()
    let options = LoadOptions(
      policy: value(1) { RequestPolicy(rawValue: $0) }, waitsForCommit: true)
    let key = value(0) { $0 }
    try Self.wait {
      do {
        let result = try await boards.result(for: key, options: options) {
          Peer.say("loading")
          guard let line = readLine(), line != "fail" else { throw CancellationError() }
          return line
        }
        Peer.say("\(result.source) \(result.value)")
      } catch { Peer.say("error") }
    }
    waitForEndOfInput()
    try boards.namespace.store.close()
    Peer.say("closed")
  }

  /// Loads as many keys as the argument says, one after the other. Prints how many loads ran and how many values were right.
  func loadMany() throws {
    let boards = try cache()
    waitForInput(saying: "open")
    let loads = Atomic(0)
    let values = Atomic(0)
    let count = argument(0)
    try Self.wait {
      for key in 0..<count {
        let value = try await boards.value(for: "\(key)") {
          loads.add(1, ordering: .relaxed)
          await Task.yield()
          return "of \(key)"
        }
        if value == "of \(key)" { values.add(1, ordering: .relaxed) }
      }
    }
    Peer.say("\(loads.load(ordering: .relaxed)) \(values.load(ordering: .relaxed))")
    try boards.namespace.store.close()
    Peer.say("closed")
  }

  /// Loads 60 of 100 keys, which other peers load too. Prints the number of loads in this peer and the number of values.
  func loadBulk() throws {
    let boards = try cache()
    waitForInput(saying: "open")
    let asked = Atomic(0)
    let values = Atomic(0)
    let keys = (0..<60).map { (20 * argument(0) + $0) % 100 }
    try Self.wait {
      let found = try await boards.values(for: keys) { missing in
        asked.add(missing.count, ordering: .relaxed)
        try await Task.sleep(for: .milliseconds(5))
        return missing.map { ($0.key, .value("of \($0.key)")) }
      }
      let right = zip(keys, found).count { key, value in value == "of \(key)" }
      values.store(right, ordering: .relaxed)
    }
    Peer.say("\(asked.load(ordering: .relaxed)) \(values.load(ordering: .relaxed))")
    try boards.namespace.store.close()
    Peer.say("closed")
  }

  /// Forks while a loaded value waits for its commit. In the child every call must fail immediately.
  func forkWhileLoading() throws {
    let boards = try cache()
    let opened = boards.namespace.store
    let (begun, release) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    Thread.detachNewThread {
      let result = Peer.outcome {
        try opened.write { _ in
          begun.signal()
          release.wait()
        }
      }
      Peer.say("parent \(result)")
    }
    begun.wait()
    try Self.wait { _ = try await boards.value(for: "thun") { "loaded" } }
    let calls: [() throws -> Void] = [
      { try opened.write { _ in } }, { try boards.set("v", for: "bern") },
      { _ = try boards.value(for: "thun") }, { try opened.purge() }, { try opened.close() },
    ]
    let expected = Array(repeating: "forked", count: 4) + ["done"]
    Self.waitUntilOtherThreadsSleep()
    let process = cFork()
    if process == 0 {
      Self.end(after: 20)
      _exit(calls.map { Self.code(of: $0) } == expected ? 0 : 1)
    }
    Peer.say("ended \(Self.waitForChild(process))")
    release.signal()
    try opened.close()
    Peer.say("closed")
  }

  /// A child releases its copy of a temporary store. The parent then writes.
  func forkWithTemporary() throws {
    var held: Store? = try Store.temporary()
    Self.waitUntilOtherThreadsSleep()
    let process = cFork()
    if process == 0 {
      held = nil
      _exit(0)
    }
    Self.waitForChild(process)
    Peer.say(Peer.outcome { try held!.namespace("notes").set("v", for: "k") })
    Peer.say("\(FileManager.default.fileExists(atPath: held!.path))")
  }

  /// Waits until no other thread can hold a lock of the Swift runtime. In a forked child, a held lock would stay held.
  private static func waitUntilOtherThreadsSleep() {
    #if os(Linux)
      let folder = "/proc/self/task"
      while true {
        let threads = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        let awake = threads.filter { thread in
          guard thread != "\(getpid())",
            let line = try? String(contentsOfFile: "\(folder)/\(thread)/stat", encoding: .utf8)
          else { return false }
          // The state follows the last `)`, which ends the name of the thread. The name itself may contain parentheses.
          return !line.split(separator: ")").last!.hasPrefix(" S")
        }
        if awake.isEmpty { return }
        usleep(1000)
      }
    #else
      usleep(200_000)
    #endif
  }

  /// Forks again and again while threads hold the locks of the store. In each child every call must fail immediately.
  func forkBesideThreads() throws {
    let boards = try cache()
    let opened = boards.namespace.store
    let ruled = opened.cache(TextCodec(), in: "ruled", rules: Rules(priority: .high))
    for _ in 0..<2 { try boards.set("v", for: "bern") }
    // The last call writes into the write buffer. The parent makes this call first, so that a later call commits the write.
    let calls: [@Sendable () throws -> Void] = [
      { _ = try opened.namespace("n").count() }, { _ = try boards.value(for: "bern") },
      {
        _ = opened.cache(TextCodec(), in: "n")
        try ruled.set("w", for: "bern")
      }, { _ = try opened.statistics() }, { _ = try opened.namespaces() },
      { try boards.namespace.set("w", for: "bern") },
    ]
    for call in calls.reversed() { try call() }
    let isOver = Atomic(false)
    let (begun, ended) = (DispatchGroup(), DispatchGroup())
    for call in [{ @Sendable () throws -> Void in _ = opened.namespace("n") }] + calls[1...3] {
      begun.enter()
      ended.enter()
      Thread.detachNewThread {
        _ = Peer.outcome(call)
        begun.leave()
        while !isOver.load(ordering: .relaxed) { _ = Peer.outcome(call) }
        ended.leave()
      }
    }
    // The first calls take locks of the Swift runtime, which a forked child never gets.
    begun.wait()
    var failures: [Int32: Int] = [:]
    for _ in 0..<argument(0) {
      let process = cFork()
      if process == 0 {
        Self.end(after: 10)
        let results = calls.map { Self.code(of: $0) }
        _exit(results == Array(repeating: "forked", count: calls.count) ? 0 : 1)
      }
      let status = Self.waitForChild(process)
      if status != 0 { failures[status, default: 0] += 1 }
    }
    isOver.store(true, ordering: .relaxed)
    ended.wait()
    Peer.say("failures \(failures)")
    try opened.close()
  }

  private static func code(of call: () throws -> Void) -> String {
    do { try call() } catch { return (error as? LarderError)?.code.rawValue ?? "" }
    return "done"
  }

  static func wait<Value: Sendable>(
    _ body: @escaping @Sendable () async throws -> Value
  ) throws -> Value {
    let isDone = DispatchSemaphore(value: 0)
    let outcome = Mutex<Result<Value, any Error>?>(nil)
    Task {
      do {
        let value = try await body()
        outcome.withLock { $0 = .success(value) }
      } catch { outcome.withLock { $0 = .failure(error) } }
      isDone.signal()
    }
    isDone.wait()
    return try outcome.withLock { $0! }.get()
  }
}
