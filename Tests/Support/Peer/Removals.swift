import Foundation
import Larder
import LarderSystem
import Synchronization
import TestSupport

/// Loads, writes and removals at random, by several tasks of several processes.
///
/// A loaded value is the time at which its load began. For each key, a file has the floor: the time at which the last finished
/// removal began. A caller must not get a value older than the floor that the file had at the request.
final class RemovalRun: Sendable {
  private static let names = ["a", "b"]
  private static let keys = 4
  private static let tag = "even"
  private let store: Store
  private let caches: [Cache<String>]
  private let file: Int32
  private let failures = Mutex<[String]>([])
  private let reads = Atomic(0)
  private let loads = Atomic(0)

  init(_ store: Store, floors path: String) throws {
    self.store = store
    caches = Self.names.map { store.cache(TextCodec(), in: $0) }
    file = unsafe open(path, O_RDWR)
    precondition(file >= 0, "no file \(path)")
  }

  private func floor(_ name: Int, _ key: Int) -> Int64 {
    var floor: Int64 = 0
    _ = unsafe pread(file, &floor, 8, place(name, key))
    return floor
  }

  private func raise(_ name: Int, _ key: Int, to time: Int64) {
    // If two removals run at the same time, the file may keep the earlier time. The check is then only weaker, not wrong.
    var latest = max(time, floor(name, key))
    _ = unsafe pwrite(file, &latest, 8, place(name, key))
  }

  private func place(_ name: Int, _ key: Int) -> off_t { off_t(8 * (name * Self.keys + key)) }

  func run(_ steps: Int, seed: UInt64) async throws {
    var random = SeededRNG(seed: seed)
    for _ in 0..<steps {
      let (name, key) = (random.next(in: 0..<Self.names.count), random.next(in: 0..<Self.keys))
      switch random.next(in: 0..<10) {
      case 0..<7: try await read(name, key, &random)
      case 7: try await caches[name].set("S", for: "\(key)", Self.attributes(key, &random))
      default: try await remove(name, key, &random)
      }
    }
  }

  private static func attributes(_ key: Int, _ random: inout SeededRNG) -> EntryAttributes {
    .with(
      expires: .after(.milliseconds(random.next(in: 1..<20))),
      stale: .milliseconds(random.next(in: 0..<20)), tags: key % 2 == 0 ? [tag] : [])
  }

  private func read(_ name: Int, _ key: Int, _ random: inout SeededRNG) async throws {
    let attributes = Self.attributes(key, &random)
    var options = LoadOptions(
      policy: [.standard, .standard, .standard, .revalidate, .reload].randomElement(
        using: &random)!,
      expires: attributes.expires, refreshAhead: random.next(in: 0..<2) == 0 ? .days(1) : nil,
      timeout: random.next(in: 0..<4) == 0 ? .milliseconds(2) : nil,
      softTimeout: random.next(in: 0..<4) == 0 ? .milliseconds(1) : nil, tags: attributes.tags,
      waitsForCommit: random.next(in: 0..<4) == 0)
    if random.next(in: 0..<2) == 0 {
      options.stale = Staleness(whileRevalidating: .milliseconds(5), onError: .milliseconds(20))
    }
    let (isUnchanged, pause) = (random.next(in: 0..<4) == 0, random.next(in: 0..<4))
    // In a third of the steps, reads all keys with the tags of `key`.
    let keys = random.next(in: 0..<3) == 0 ? (0..<Self.keys).filter { $0 % 2 == key % 2 } : [key]
    let floors = keys.map { floor(name, $0) }
    let load: @Sendable (CachedValue<String>?) async throws -> Loaded<String> = { [self] known in
      let began = SystemTime.monotonicMicroseconds
      loads.add(1, ordering: .relaxed)
      try await Task.sleep(for: .milliseconds(pause))
      return known != nil && isUnchanged ? .unchanged : .value("\(began)")
    }
    do {
      let results: [CacheResult<String>?]
      if keys.count == 1 {
        results = [try await caches[name].result(for: "\(key)", options: options, load: load)]
      } else {
        results = try await caches[name].results(for: keys.map { "\($0)" }, options: options) {
          missing in
          let known = missing.allSatisfy { $0.stored != nil } ? missing[0].stored : nil
          let outcome = try await load(known)
          return missing.map { ($0.key, outcome) }
        }.map { try $0.get() }
      }
      reads.add(1, ordering: .relaxed)
      for (key, (result, floor)) in zip(keys, zip(results, floors)) {
        guard let value = result?.value, let began = Int64(value), began < floor else { continue }
        failures.withLock {
          $0.append("\(Self.names[name]) \(key): \(floor - began) us too old, \(options.policy)")
        }
      }
    } catch { guard (error as? LarderError)?.code == .timedOut else { throw error } }
  }

  private func remove(_ name: Int, _ key: Int, _ random: inout SeededRNG) async throws {
    let (cache, text) = (caches[name], "\(key)")
    let began = SystemTime.monotonicMicroseconds
    var removed = [(name, key)]
    let all = (0..<Self.keys).map { (name, $0) }
    switch random.next(in: 0..<10) {
    case 0...1: try await cache.remove(text)
    case 2: _ = try await cache.pop(text)
    case 3: _ = try await cache.update(text) { _ in nil }
    case 4: try store.write { batch in _ = try batch.remove(text, from: cache) }
    case 5:
      try await cache.set("S", for: text)
      try await cache.remove(text)
    case 6: try cache.remove(prefix: text)
    case 7:
      try store.invalidate(tag: Self.tag)
      removed = Self.names.indices.flatMap { name in
        (0..<Self.keys).filter { $0 % 2 == 0 }.map { (name, $0) }
      }
    case 8:
      try cache.clear()
      removed = all
    default:
      guard try cache.namespace.info() != nil else { return }
      removed = all
      do { try store.rename(Self.names[name], to: "gone-\(random.next(in: 0..<1 << 30))") } catch {
        // Another task has renamed the namespace meanwhile, so this error is allowed.
        guard error.code == .noSuchNamespace else { throw error }
      }
    }
    for (name, key) in removed { raise(name, key, to: began) }
  }

  func report() {
    Peer.say("reads \(reads.load(ordering: .relaxed)) loads \(loads.load(ordering: .relaxed))")
    let failures = failures.withLock { failures in failures }
    for failure in failures.prefix(5) { Peer.say("WRONG \(failure)") }
  }
}

extension Peer {
  /// Runs random steps in each of four tasks. Arguments: the seed and the number of steps.
  func removeAndLoad() throws {
    let opened = try Store(at: store)
    let run = try RemovalRun(opened, floors: store + ".floors")
    waitForInput(saying: "open")
    let (seed, steps) = (UInt64(argument(0)), argument(1))
    try Self.wait {
      try await inTasks(4) { task in try await run.run(steps, seed: seed &* 16 &+ UInt64(task)) }
    }
    run.report()
    try opened.close()
    Peer.say("end")
  }
}
