import CoreMetrics
import InMemoryLogging
import Larder
import LarderMonitoring
import LarderTesting
import Logging
import MetricsTestKit
import ServiceLifecycle
import TestSupport
import Testing

@Suite struct MonitoringTraitTests {
  @Test func `figures become gauges, and what counts have risen becomes counters`() throws {
    try withTemporaryStore { store, _ in
      let metrics = TestMetrics()
      let monitor = StoreMonitor(of: store, named: "shop", report: .metrics(to: metrics))
      let names = store.namespace("names")
      let gone = store.namespace("gone")
      try gone.set("v", for: "k")
      try names.set("0123456789", for: "k")
      let _: String? = try names.value(for: "k")
      monitor.lookOnce()
      let labels = { (name: String) in [("store", "shop"), ("namespace", name)] }
      #expect(try metrics.expectGauge("larder_value_bytes", labels("names")).lastValue == 10)
      #expect(metrics.counterTotal(label: "larder_hits", dimensions: labels("names")) == 0)
      for _ in 0..<3 { let _: String? = try names.value(for: "k") }
      try names.set("0123", for: "k")
      monitor.lookOnce()
      #expect(try metrics.expectGauge("larder_value_bytes", labels("names")).lastValue == 4)
      #expect(metrics.counterTotal(label: "larder_hits", dimensions: labels("names")) == 3)
      try store.resetStatistics()
      let _: String? = try names.value(for: "k")
      let _: String? = try gone.value(for: "k")
      try store.rename("gone", to: "moved")
      monitor.lookOnce()
      #expect(metrics.counterTotal(label: "larder_hits", dimensions: labels("moved")) == 0)
      #expect(metrics.counterTotal(label: "larder_hits", dimensions: labels("names")) == 4)
      #expect(metrics.recorders(label: "larder_entries", dimensions: labels("gone")).isEmpty)
    }
  }

  @Test func `monitors of several stores may share a report`() throws {
    try withTemporaryStore { store, _ in
      try withTemporaryStore { other, _ in
        let metrics = TestMetrics()
        let report = StoreMonitor.Report.metrics(to: metrics)
        let monitor = StoreMonitor(of: store, named: "shop", report: report)
        let next = StoreMonitor(of: other, named: "other", report: report)
        let names = store.namespace("names")
        try names.set("v", for: "k")
        for _ in 0..<2 {
          monitor.lookOnce()
          next.lookOnce()
          let _: String? = try names.value(for: "k")
        }
        let labels = [("store", "shop"), ("namespace", "names")]
        #expect(metrics.counterTotal(label: "larder_hits", dimensions: labels) == 1)
        #expect(try metrics.expectGauge("larder_entries", labels).lastValue == 1)
      }
    }
  }

  @Test func `events become lines of a logger with their names`() throws {
    try withTemporaryStore { store, _ in
      let handler = InMemoryLogHandler()
      var logger = Logger(label: "cache") { _ in handler }
      logger.logLevel = .trace
      let metrics = TestMetrics()
      let monitor = StoreMonitor(of: store, report: .metrics(to: metrics).and(.logging(to: logger)))
      let numbers = store.cache(of: Int.self, in: "numbers")
      try numbers.set(1, for: 1)
      monitor.lookOnce()
      #expect(handler.entries.isEmpty)
      try numbers.namespace.set("secret", for: 1)
      _ = try numbers.value(for: 1)
      monitor.lookOnce()
      let entry = try #require(handler.entries.first)
      #expect(handler.entries.count == 1 && entry.level == .warning)
      #expect(entry.metadata == ["event": "undecodable", "namespace": "numbers"])
      #expect(!entry.message.description.contains("secret"))
      #expect(!metrics.recorders.isEmpty)
    }
  }

  @Test func `maintenance is a service`() throws {
    let service: any Service = try Maintenance(of: Store.temporary())
    #expect(service is Maintenance)
  }
}
