import Foundation
import Larder
import LarderRedis
import LarderShared
import Synchronization

/// The program of one process of a machine: it reads keys, changes the machine's own keys, and records each call.
///
/// The process asks its parent for values of the origin on standard output, and gets values and orders on standard input.
final class MachineProgram: Sendable {
  private static let readers = 3
  private let settings: MachineProcess.Settings
  private let output = LineWriter(.standardOutput)
  private let history: LineWriter
  private let lines = Mutex<[String]>([])
  private let requests = Mutex<(next: Int, waiting: [Int: CheckedContinuation<Int, Never>])>(
    (0, [:]))
  private let isActive = Atomic(false)
  private let store: Store
  private let cache: SharedCache<Int>

  init(_ settings: MachineProcess.Settings) throws {
    self.settings = settings
    let addresses = settings.ports.map { ServerAddress("127.0.0.1", $0) }
    let sender = try RedisSender(
      host: addresses[0].host, port: addresses[0].port, others: Array(addresses.dropFirst()))
    store = try Store(at: settings.store)
    cache = try store.cache(
      of: Int.self, in: "numbers", rules: Rules(expires: .after(.seconds(5)), stale: .minutes(5)),
      shared: Shared(
        sender, application: "fleet", options: SharedOptions(readTimeout: .milliseconds(250))))
    if !FileManager.default.fileExists(atPath: settings.history) {
      _ = FileManager.default.createFile(atPath: settings.history, contents: nil)
    }
    let file = try FileHandle(forWritingTo: URL(fileURLWithPath: settings.history))
    try file.seekToEnd()
    history = LineWriter(file)
  }

  func run() async throws {
    readLines(.standardInput, { [self] in follow($0) }, end: { exit(0) })
    await withTaskGroup { group in
      for reader in 0..<Self.readers { group.addTask { await self.read(reader) } }
      if settings.changes { group.addTask { await self.change() } }
      group.addTask {
        while true {
          try? await Task.sleep(for: .milliseconds(50))
          self.flush()
        }
      }
    }
  }

  private func follow(_ line: String) {
    let words = line.split(separator: " ")
    switch words.first {
    case "value":
      guard words.count == 3, let id = Int(words[1]), let value = Int(words[2]) else { return }
      requests.withLock { $0.waiting.removeValue(forKey: id) }?.resume(returning: value)
    case "go":
      isActive.store(true, ordering: .sequentiallyConsistent)
      output.write("go .")
    case "rest":
      isActive.store(false, ordering: .sequentiallyConsistent)
      Task {
        // The calls that still run end during this pause, so `flush` writes these calls, too.
        try? await Task.sleep(for: .milliseconds(700))
        flush()
        output.write("rest .")
      }
    case "waits": output.write("waits \(waits)")
    case "one", "rush", "alone":
      let word = String(words[0])
      Task { await rush(word == "one" ? 1 : 100, isLeased: word != "alone", word) }
    default: break
    }
  }

  /// The number of removals that wait, and whether the machine follows the log.
  private var waits: String {
    do {
      guard let status = try SharedStatus(of: store) else { return "0 false" }
      return "\(status.waitingRemovals) \(status.isConfirmed)"
    } catch {
      return "\(error)"
    }
  }

  private func flush() {
    let text = lines.withLock { lines in
      defer { lines = [] }
      return lines
    }
    if !text.isEmpty { history.write(text.joined(separator: "\n")) }
  }

  private func note(_ call: Call) { lines.withLock { $0.append(call.line) } }

  private func ask(_ word: String, _ key: Int) async -> Int {
    await withCheckedContinuation { continuation in
      let id = requests.withLock { requests in
        requests.next += 1
        requests.waiting[requests.next] = continuation
        return requests.next
      }
      output.write("\(word) \(id) \(key)")
    }
  }

  /// Waits for a random time of at most `longest` microseconds. Repeats the wait while the process must not be active.
  private func pause(_ longest: Int, _ choice: inout Choice) async {
    repeat {
      try? await Task.sleep(for: .microseconds(choice.next(longest)))
    } while !isActive.load(ordering: .sequentiallyConsistent)
  }

  private func read(_ reader: Int) async {
    var choice = Choice(settings.seed &* 31 &+ UInt64(settings.machine.index * 10 + reader))
    while true {
      await pause(6000, &choice)
      let key = min(choice.next(settings.keys), choice.next(settings.keys))
      let start = Call.now
      do {
        let result = try await cache.result(for: "\(key)") { await self.ask("load", key) }
        note(
          Call(
            kind: .read, start: start, end: Call.now, key: key, value: result.value,
            source: result.source.rawValue, isConfirmed: result.isConfirmed))
      } catch {
        output.write("error \(error)")
      }
    }
  }

  /// Changes the machine's own keys, first at the origin and then in the tier. After a failure, removes the key.
  private func change() async {
    var choice = Choice(settings.seed &* 37 &+ UInt64(settings.machine.index))
    let count =
      (settings.keys - settings.machine.index + settings.machine.count - 1)
      / settings.machine.count
    while true {
      await pause(60_000, &choice)
      let key = settings.machine.index + settings.machine.count * choice.next(max(count, 1))
      let value = await ask("change", key)
      let start = Call.now
      var kind = Call.Kind.write
      do {
        switch choice.next(20) {
        case 0..<14: try await cache.set(value, for: "\(key)", tags: ["tag"])
        case 14..<19: try await cache.remove("\(key)")
        default:
          try await cache.invalidate(tag: "tag")
          try await cache.remove("\(key)")
        }
      } catch {
        kind = .attempt
        // The tier may now have an older value than the origin, so the key is removed.
        do { try await cache.remove("\(key)") } catch {
          // The tier did not get the removal, so the removal waits in the store.
        }
      }
      note(Call(kind: kind, start: start, end: Call.now, key: key, value: value))
    }
  }

  /// Asks for new keys at the same time: through the cache, or like a program without leases, which asks the tier and loads.
  private func rush(_ count: Int, isLeased: Bool, _ word: String) async {
    await withTaskGroup { group in
      for index in 0..<count {
        let key = (isLeased ? 1_000_000 : 2_000_000) + index
        group.addTask { [self] in
          if isLeased {
            _ = try? await cache.value(for: "\(key)") { await self.ask("load", key) }
          } else {
            let tier = cache.shared.tier
            let name = SharedKey(namespace: "plain", bytes: Array("\(key)".utf8))
            if let found = try? await tier.fetch(name, tags: []), !found.frame.isEmpty { return }
            let value = await ask("load", key)
            _ = try? await tier.change(
              .set(
                name,
                TierValue(frame: Array("\(value)".utf8), lifetime: .minutes(1), tags: [])))
          }
        }
      }
    }
    output.write("\(word) .")
  }
}

/// Random choices that a seed repeats.
struct Choice {
  private var state: UInt64

  init(_ seed: UInt64) { state = seed &+ 0x9E37_79B9_7F4A_7C15 }

  /// The next pseudo-random number: at least 0, less than `limit`.
  mutating func next(_ limit: Int) -> Int {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return Int((state >> 33) % UInt64(max(limit, 1)))
  }
}

/// Runs the program of a machine's process, with the arguments of ``MachineProcess``.
public func runMachine(_ arguments: [String]) async throws {
  guard let settings = MachineProcess.Settings(arguments) else {
    throw NoServer(description: "a machine is started by `fleet` alone")
  }
  try await MachineProgram(settings).run()
}
