import Larder
import LarderMonitoring
import Synchronization
import TestSupport
import Testing

/// The program of `Docs/Operate/Monitoring.md`.
@Suite struct MonitoringPage {
  @Test func `a monitor`() async throws {
    let seen = Mutex<[Metric]>([])
    @Sendable func publish(_ metrics: [Metric]) { seen.withLock { $0 = metrics } }
    @Sendable func log(_ level: MonitoringEvent.Level, _ message: String) {}
    let store = try Store.temporary(options: Store.Options(clock: ManualClock()))
    let monitor = StoreMonitor(
      of: store,
      report: .init(
        metrics: { metrics in publish(metrics) },
        event: { event in log(event.level, event.message) }))
    monitor.start()
    try await waitUntil { seen.withLock { !$0.isEmpty } }
    monitor.stop()
    #expect(try store.verify().isSound)
  }
}
