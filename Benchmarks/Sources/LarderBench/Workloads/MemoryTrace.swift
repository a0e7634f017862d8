import Foundation
import Larder

/// The hit ratio of the memory of a cache for a recorded sequence of accesses, compared with the policy LRU.
struct MemoryTrace {
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
        for key in start..<min(start + 50_000, keys) {
          try batch.set(Array("v".utf8), for: key, in: notes)
        }
      }
    }
    try store.close()
    for percent in percent {
      // A new store object has an empty memory, so each measurement opens the store again.
      let store = try Store(at: path)
      let capacity = Int(Double(keys) * percent / 100)
      let cache = store.cache(
        TextCodec(), in: "notes", memory: MemoryLimits(entries: max(1, capacity)))
      for key in requests {
        let value = try cache.value(for: key)
        guard value == "v" else { throw Failure("read another value") }
      }
      let hits = cache.memory!.statistics.hits
      let ours = 100 * Double(hits) / Double(requests.count)
      let lru = 100 * Double(leastRecentlyUsed(capacity)) / Double(requests.count)
      say(
        "\(name), \(grouped(requests.count)) requests, \(percent) % = \(grouped(capacity)): "
          + String(format: "ours %.2f %%, LRU %.2f %%", ours, lru))
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
