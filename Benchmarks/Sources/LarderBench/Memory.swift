import ArgumentParser
import Dispatch
import Foundation
import Larder
import RawLMDB
import Synchronization

struct MemoryBench: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "memory",
    abstract: "Decoded values from memory, beside LMDB used from C and a dictionary behind a lock.")

  @OptionGroup var place: Place
  @Option(help: "Reads in a round.") var operations = 500_000
  @Option(help: "Rounds, of which the median counts.") var rounds = 31
  @Option(help: "Access traces to replay instead, plain or compressed with gzip; repeatable.")
  var trace: [String] = []
  @Option(help: "Capacities for traces, in percent of their distinct keys.") var percent = [
    1.0, 10,
  ]

  func run() throws {
    try place.withDirectory { directory in
      if trace.isEmpty {
        try MemoryReads(directory: directory).report(rounds: rounds, operations: operations)
      } else {
        for file in trace { try MemoryTrace(file).report(percent: percent, directory: directory) }
      }
    }
  }
}

/// 1,000 hot values of about 200 bytes as JSON, under texts of 13 bytes.
private final class MemoryReads: Sendable {
  struct Article: Codable, Sendable, Equatable {
    var id: Int
    var title: String
    var link: String
    var summary: String
    var rating: Double
    var isRead: Bool
  }

  private let workload = Workload(count: 1000)
  private let store: Store
  private let cache: Cache<Article>
  private let plain: Cache<Article>
  private let dictionary: Mutex<[String: Article]>
  nonisolated(unsafe) private let raw: OpaquePointer

  init(directory: String) throws {
    store = try Store(at: directory + "/ours")
    let cache = store.cache(
      of: Article.self, in: "articles", rules: Rules(expires: .after(.days(1))))
    self.cache = cache
    plain = store.cache(of: Article.self, in: "articles", memory: MemoryLimits.none)
    var articles: [String: Article] = [:]
    for (index, key) in workload.keys.enumerated() {
      articles[key] = Article(
        id: index, title: "What the weather does on day \(index)",
        link: "https://example.org/articles/\(index)/what-the-weather-does",
        summary: "It rains, and then it does not; a longer text says more.", rating: 4.5,
        isRead: index % 2 == 0)
    }
    try store.write { batch in
      for (key, article) in articles { try batch.set(article, for: key, in: cache) }
    }
    dictionary = Mutex(articles)
    let size = try cache.entry(for: workload.keys[500])!.size
    raw = raw_open(directory + "/raw")!
    let result = raw_fill(raw, workload.flat, Workload.keySize, 1000, size, 1000)
    precondition(result == 0)
    print("values of \(size) bytes as JSON")
  }

  func report(rounds: Int, operations: Int) throws {
    let order = workload.order(distinct: 1000, rounds: operations)
    func line(
      _ name: String,
      _ result: (ours: Sample, raw: Sample, ratio: Double, spread: ClosedRange<Double>),
      _ other: String
    ) {
      print(
        "\(name): \(Int(result.ours.median)) ns, \(other) \(Int(result.raw.median)) ns, ratio \(text(result.ratio)) "
          + "(\(text(result.spread.lowerBound)) to \(text(result.spread.upperBound)))")
    }
    line(
      "hit in memory",
      try compare(
        rounds: rounds, operations: operations, ours: { try read(order) },
        raw: { _ = raw_read(raw, workload.flat, Workload.keySize, order, order.count) }),
      "LMDB in C")
    line(
      "hit in memory",
      try compare(
        rounds: rounds, operations: operations, ours: { try read(order) }, raw: { look(order) }),
      "locked dictionary")
    line(
      "the same in two threads, each",
      compare(
        rounds: rounds, operations: operations, ours: { inTwo { try! read(order) } },
        raw: { inTwo { look(order) } }), "locked dictionary")
    let few = Array(order.prefix(operations / 50 + 1))
    line(
      "decoded at each read",
      try compare(
        rounds: rounds, operations: few.count, ours: { try decode(few) }, raw: { try read(few) }),
      "in memory")
    line(
      "after a commit",
      try compare(
        rounds: rounds, operations: 1000, ours: { try read(first) },
        raw: { try read(first) }, before: { try store.namespace("other").set("x", for: 1) }),
      "in memory")
    let statistics = cache.memory!.statistics
    print(
      "\(statistics.hits) hits, \(statistics.validations) validations, \(statistics.misses) misses")
    precondition(statistics.misses == 1000)
  }

  private var first: [UInt32] { (0..<1000).map { UInt32($0) } }

  private func read(_ order: [UInt32]) throws {
    var sum = 0
    for index in order { sum &+= try cache.value(for: workload.keys[Int(index)])?.id ?? 1 << 40 }
    precondition(sum > 0 && sum < 1 << 40)
  }

  private func look(_ order: [UInt32]) {
    var sum = 0
    for index in order {
      let key = workload.keys[Int(index)]
      sum &+= dictionary.withLock { $0[key] }?.id ?? 1 << 40
    }
    precondition(sum > 0 && sum < 1 << 40)
  }

  private func decode(_ order: [UInt32]) throws {
    for index in order {
      let value = try plain.value(for: workload.keys[Int(index)])
      precondition(value != nil)
    }
  }

  private func inTwo(_ body: @Sendable () -> Void) {
    DispatchQueue.concurrentPerform(iterations: 2) { _ in body() }
  }
}

/// The hit ratio of a cache's memory over a recorded sequence of accesses, beside that of LRU.
private struct MemoryTrace {
  private let name: String
  private let requests: [Int]
  private let keys: Int

  init(_ file: String) throws {
    name = URL(fileURLWithPath: file).lastPathComponent
    let process = Process()
    let output = Pipe()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = file.hasSuffix(".gz") ? ["gunzip", "-c", file] : ["cat", file]
    process.standardOutput = output
    try process.run()
    let data = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    var numbers: [Substring: Int] = [:]
    var requests: [Int] = []
    for line in String(decoding: data, as: UTF8.self).split(separator: "\n") {
      let key = line.prefix { $0 != " " }
      let number = numbers[key] ?? numbers.count
      numbers[key] = number
      requests.append(number)
    }
    self.requests = requests
    keys = numbers.count
  }

  func report(percent: [Double], directory: String) throws {
    let path = directory + "/" + name
    let store = try Store(at: path)
    let notes = store.namespace("notes")
    for start in stride(from: 0, to: keys, by: 50_000) {
      try store.write { batch in
        for key in start..<min(start + 50_000, keys) { try batch.set("v", for: key, in: notes) }
      }
    }
    try store.close()
    for percent in percent {
      // A new opening, so that no memory knows of the cell before.
      let store = try Store(at: path)
      let capacity = Int(Double(keys) * percent / 100)
      let cache = store.cache(
        TextCodec(), in: "notes", memory: MemoryLimits(entries: max(1, capacity)))
      for key in requests {
        let value = try cache.value(for: key)
        precondition(value == "v")
      }
      let hits = cache.memory!.statistics.hits
      let ours = 100 * Double(hits) / Double(requests.count)
      let lru = 100 * Double(leastRecentlyUsed(capacity)) / Double(requests.count)
      print(
        "\(name), \(requests.count) requests, \(percent) % = \(capacity): ours \(text(ours)) %, LRU \(text(lru)) %"
      )
      try store.close()
    }
  }

  private func leastRecentlyUsed(_ capacity: Int) -> Int {
    var older = Array(0...keys)
    var newer = older
    var isIn = Array(repeating: false, count: keys)
    var (hits, count) = (0, 0)
    for key in requests {
      if isIn[key] {
        hits += 1
        newer[older[key]] = newer[key]
        older[newer[key]] = older[key]
      } else {
        isIn[key] = true
        count += 1
      }
      older[key] = older[keys]
      newer[key] = keys
      newer[older[keys]] = key
      older[keys] = key
      if count > capacity {
        let oldest = newer[keys]
        newer[keys] = newer[oldest]
        older[newer[oldest]] = keys
        isIn[oldest] = false
        count -= 1
      }
    }
    return hits
  }
}

/// Like the other `compare`, with something done before each turn of `ours` that is not measured.
private func compare(
  rounds: Int, operations: Int, ours: () throws -> Void, raw: () throws -> Void,
  before: () throws -> Void
) rethrows -> (ours: Sample, raw: Sample, ratio: Double, spread: ClosedRange<Double>) {
  var left = Sample()
  var right = Sample()
  var ratios: [Double] = []
  for _ in 0..<rounds {
    try before()
    let a = try nanoseconds(ours) / Double(operations)
    let b = try nanoseconds(raw) / Double(operations)
    left.nanoseconds.append(a)
    right.nanoseconds.append(b)
    ratios.append(a / b)
  }
  ratios.sort()
  return (
    left, right, ratios[ratios.count / 2], ratios[ratios.count / 5]...ratios[ratios.count * 4 / 5]
  )
}
