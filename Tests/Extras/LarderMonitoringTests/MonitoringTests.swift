import Foundation
import LarderMonitoring
import LarderTesting
import Synchronization
import TestSupport
import Testing

@testable import Larder

@Suite struct MonitoringTests {
  private final class Reports: Sendable {
    private let state = Mutex<(metrics: [[Metric]], events: [MonitoringEvent])>(([], []))

    var report: StoreMonitor.Report {
      .init(
        metrics: { [self] all in state.withLock { $0.metrics.append(all) } },
        event: { [self] event in state.withLock { $0.events.append(event) } })
    }
    var looks: Int { state.withLock { $0.metrics.count } }

    func takeEvents() -> [MonitoringEvent] {
      state.withLock { state in
        defer { state.events = [] }
        return state.events
      }
    }

    /// The value of the metric with that name and these labels in the last report. Nil if the report has no such metric.
    func value(_ name: String, _ labels: [String: String] = [:]) -> Double? {
      state.withLock { state in
        state.metrics.last?.first { metric in
          metric.name == name
            && labels.allSatisfy { label in
              metric.dimensions.contains { $0.name == label.key && $0.value == label.value }
            }
        }?.value
      }
    }

    var all: [Metric] { state.withLock { $0.metrics.flatMap(\.self) } }
  }

  @Test func `the figures of a store are its metrics, without a key or a value`() throws {
    try withTemporaryStore { store, _ in
      let reports = Reports()
      let monitor = StoreMonitor(of: store, named: "shop", report: reports.report)
      let names = store.namespace("names")
      try store.declare(StoreLimits(bytes: 1000))
      try names.set("secret-value", for: "secret-key")
      _ = try names.value(for: "secret-key") as String?
      _ = try names.value(for: "absent-key") as String?
      try names.remove("secret-key")
      try names.set("0123456789", for: "other-key")
      #expect(monitor.lookOnce())
      let labels = ["store": "shop", "namespace": "names"]
      #expect(reports.value("larder_healthy", ["store": "shop"]) == 1)
      #expect(reports.value("larder_entries", labels) == 1)
      #expect(reports.value("larder_value_bytes", labels) == 10)
      #expect(reports.value("larder_hits", labels) == 1)
      #expect(reports.value("larder_misses", labels.merging(["reason": "absent"]) { $1 }) == 1)
      #expect(reports.value("larder_removals", labels.merging(["reason": "removed"]) { $1 }) == 1)
      #expect(reports.value("larder_utilization_ratio", ["resource": "bytes"]) == 0.01)
      #expect(reports.value("larder_utilization_ratio", ["resource": "entries"]) == nil)
      #expect(reports.value("larder_file_bytes") ?? 0 > 0)
      for metric in reports.all {
        #expect(metric.name.hasPrefix("larder_") && metric.value.isFinite)
        #expect(metric.dimensions.first == reports.all[0].dimensions[0])
        for dimension in metric.dimensions {
          #expect(!dimension.value.contains("secret") && !dimension.value.contains("key"))
        }
      }
      #expect(reports.takeEvents() == [])
    }
  }

  @Test func `the page names every metric, and no other`() throws {
    let options = with(Store.Options()) { $0.writeBuffer = 256 << 10 }
    try withTemporaryStore(options: options) { store, _ in
      let reports = Reports()
      try store.declare(StoreLimits(entries: 10, bytes: 1000, disk: 1 << 30, memory: 1000))
      try store.namespace("n").set("v", for: "k")
      StoreMonitor(of: store, report: reports.report).lookOnce()
      let page = try Repository.text("Docs/Operate/Monitoring.md")
      let table = page.split(separator: "\n").filter { $0.hasPrefix("| `larder_") }
      let named = Set(
        table.flatMap { row in
          row.split(separator: "|")[0].split(separator: ",").map {
            $0.trimmingCharacters(in: CharacterSet(charactersIn: " `"))
          }
        })
      #expect(Set(reports.all.map(\.name)) == named)
      for metric in reports.all {
        let row = try #require(table.first { $0.contains("`\(metric.name)`") })
        #expect(row.contains("| \(metric.kind.rawValue) |"), "\(metric.name)")
        for dimension in metric.dimensions where dimension.name != "store" {
          #expect(row.contains("`\(dimension.name)`"), "\(metric.name)")
          if ["reason", "resource"].contains(dimension.name) {
            #expect(row.contains("`\(dimension.value)`"), "\(metric.name)")
          }
        }
      }
    }
  }

  @Test func `a file whose pages are free again is not full`() throws {
    try withTemporaryStore { store, _ in
      let (reports, notes) = (Reports(), store.namespace("notes"))
      try store.declare(StoreLimits(disk: 4_000_000))
      for key in 0..<800 { try notes.set([UInt8](repeating: 1, count: 8000), for: key) }
      try store.clear()
      try store.purge()
      StoreMonitor(of: store, report: reports.report).lookOnce()
      #expect(reports.takeEvents() == [])
      let ratio = try #require(reports.value("larder_utilization_ratio", ["resource": "disk"]))
      #expect(ratio < 0.5)
    }
  }

  @Test func `what goes wrong is reported once, and again when it happens again`() throws {
    try withTemporaryStore { store, _ in
      let reports = Reports()
      let again = Mutex<StoreMonitor?>(nil)
      let looks = StoreMonitor.Report(event: { _ in again.withLock { $0 }?.lookOnce() })
      let monitor = StoreMonitor(of: store, report: reports.report.and(looks))
      again.withLock { $0 = monitor }
      let cache = store.cache(of: Int.self, in: "numbers", rules: Rules(limits: Limits(entries: 2)))
      try store.declare(StoreLimits(entries: 2))
      try cache.set(1, for: 1)
      monitor.lookOnce()
      #expect(reports.takeEvents() == [])
      try cache.namespace.set("secret", for: 2)
      _ = try cache.value(for: 2)
      monitor.lookOnce()
      let events = reports.takeEvents()
      #expect(Set(events.map(\.name)) == ["undecodable", "full"])
      #expect(events.first { $0.name == "full" }?.message.contains("or fail") == true)
      #expect(events.first { $0.name == "undecodable" }?.namespace == "numbers")
      #expect(events.first { $0.name == "undecodable" }?.level == .warning)
      #expect(!events.contains { $0.message.contains("secret") })
      monitor.lookOnce()
      #expect(reports.takeEvents() == [])
      try cache.set(3, for: 3)
      monitor.lookOnce()
      #expect(reports.takeEvents().map(\.name) == ["evicting"])
      try store.resetStatistics()
      monitor.lookOnce()
      #expect(reports.takeEvents() == [])
      again.withLock { $0 = nil }
    }
  }

  @Test func `a count of reads does not fall when a stale value is served`() async throws {
    struct Refusal: Error {}
    let clock = ManualClock()
    let store = try Store.temporary(options: Store.Options(clock: clock))
    let (reports, boards) = (Reports(), store.cache(of: String.self, in: "boards"))
    let monitor = StoreMonitor(of: store, report: reports.report)
    let options = LoadOptions(
      expires: .after(.minutes(2)), stale: Staleness(onError: .hours(24)), waitsForCommit: true)
    for _ in 0..<2 {
      _ = try await boards.result(for: "thun", options: options) { "a board" }
      clock.advance(by: .minutes(3))
    }
    for _ in 0..<2 {
      _ = try await boards.result(for: "thun", options: options) { () -> String in
        monitor.lookOnce()
        throw Refusal()
      }
      monitor.lookOnce()
      #expect(reports.value("larder_misses", ["reason": "stale"]) == 2)
    }
    try store.resetStatistics()
    monitor.lookOnce()
    #expect(reports.value("larder_misses", ["reason": "stale"]) == 0)
  }

  @Test func `the events of a namespace that is new since the last look are reported`() throws {
    try withTemporaryStore { store, _ in
      let reports = Reports()
      let monitor = StoreMonitor(of: store, report: reports.report)
      monitor.lookOnce()
      let cache = store.cache(of: Int.self, in: "numbers")
      try cache.namespace.set("no number", for: 1)
      _ = try cache.value(for: 1)
      monitor.lookOnce()
      #expect(reports.takeEvents().map(\.name) == ["undecodable"])
      try store.rename("numbers", to: "figures")
      monitor.lookOnce()
      #expect(reports.takeEvents() == [], "a renamed namespace is not new")
    }
  }

  @Test func `a store whose files were moved is an error, and in order again a notice`() throws {
    let directory = TemporaryDirectory()
    let options = Store.Options(checkpointInterval: .seconds(3600))
    let store = try Store(at: directory.path + "/store", options: options)
    let reports = Reports()
    let monitor = StoreMonitor(of: store, report: reports.report)
    func look() -> [[String]] {
      monitor.lookOnce()
      return reports.takeEvents().map { [$0.name, $0.level.rawValue] }
    }
    #expect(look() == [])
    try FileManager.default.moveItem(atPath: store.path, toPath: store.path + ".away")
    #expect(look() == [["health", "error"]])
    #expect(reports.value("larder_healthy") == 0)
    try FileManager.default.moveItem(atPath: store.path + ".away", toPath: store.path)
    #expect(look() == [["health", "notice"]])
    // The first two writes are commits. The third write waits in the write buffer, and prevents the statistics.
    for key in 1...3 { try store.namespace("notes").set("v", for: key) }
    try #require(store.engine.reader.buffer?.hasRecords == true)
    try FileManager.default.moveItem(atPath: store.path, toPath: store.path + ".away")
    #expect(look() == [["health", "error"], ["unreadable", "error"]])
    #expect(reports.value("larder_healthy") == 0 && reports.value("larder_file_bytes") != nil)
    try FileManager.default.moveItem(atPath: store.path + ".away", toPath: store.path)
    #expect(look() == [["health", "notice"]])
    #expect(reports.value("larder_entries") == 3)
    #expect(try store.verify().faults == [])
    try store.close()
    #expect(!monitor.lookOnce())
    #expect(reports.takeEvents() == [])
  }

  @Test func `a store whose statistics cannot be read counts as not healthy`() throws {
    let (store, reports) = (try Store.temporary(), Reports())
    // Limits that cannot be read prevent the statistics.
    try store.write { try $0.session.store(with(StoreSettings()) { $0.declared.entries = -1 }) }
    StoreMonitor(of: store, report: reports.report).lookOnce()
    #expect(reports.value("larder_healthy") == 0)
    #expect(reports.takeEvents().map(\.name) == ["unreadable"])
  }

  @Test func `a monitor looks at intervals until it stops, or nobody refers to it`() async throws {
    let clock = ManualClock()
    let store = try Store.temporary(options: Store.Options(clock: clock))
    let reports = Reports()
    let monitor = StoreMonitor(of: store, every: .seconds(10), report: reports.report)
    monitor.start()
    monitor.start()
    try await waitUntil { reports.looks == 1 && clock.isAwaited }
    clock.advance(by: .seconds(10))
    try await waitUntil { reports.looks == 2 && clock.isAwaited }
    monitor.stop()
    try await waitUntil { !clock.isAwaited }
    clock.advance(by: .seconds(100))
    #expect(reports.looks == 2)
    var other: StoreMonitor? = StoreMonitor(of: store, report: .init())
    other?.start()
    try await waitUntil { clock.isAwaited }
    #expect(other != nil)
    other = nil
    try await waitUntil { !clock.isAwaited }
    #expect(try store.verify().faults == [])
  }
}
