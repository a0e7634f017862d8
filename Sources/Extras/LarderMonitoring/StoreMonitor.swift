public import Larder
import Synchronization

/// Looks at a store at intervals and reports its metrics and events.
///
/// Without a monitor Larder reports nothing. One monitor for each store is enough, in any process that has the store open,
/// because a store counts for all its processes. But the figures of memory and of the write buffer are only for the process of
/// the monitor. With the traits `Logging` and `Metrics` a monitor reports to swift-log and swift-metrics.
///
///     let monitor = StoreMonitor(of: store, report: .init(metrics: { publish($0) }, event: { print($0.message) }))
///     monitor.start()
///
/// The interval is measured by the store's clock. The monitor stops when its last reference is released.
public final class StoreMonitor: Sendable {
  /// The closures that receive the reports.
  public struct Report: Sendable {
    /// Gets all metrics after each look at the store, in the order of the looks. If the statistics cannot be read,
    /// `larder_healthy` is 0, and the other metrics are those of the look before. Must not call ``StoreMonitor/lookOnce()``.
    public var metrics: @Sendable ([Metric]) -> Void
    /// Gets each event since the previous look at the store.
    public var event: @Sendable (MonitoringEvent) -> Void

    /// Makes a report from two closures. The default closures do nothing.
    public init(
      metrics: @escaping @Sendable ([Metric]) -> Void = { _ in },
      event: @escaping @Sendable (MonitoringEvent) -> Void = { _ in }
    ) {
      self.metrics = metrics
      self.event = event
    }
  }

  private struct Look {
    var statistics: Statistics?
    var health = StoreHealth.healthy
    var isUnreadable = false
  }

  private let store: Store
  private let name: String
  private let interval: Duration
  private let report: Report
  private let task = Mutex<Task<Void, Never>?>(nil)
  /// The last look at the store. The lock is held during the next look, so that two looks do not report the same event.
  private let last = Mutex(Look())

  /// Makes a monitor that does nothing before ``start()`` or ``lookOnce()``.
  ///
  /// - Parameters:
  ///   - name: the name of the store in labels; nil takes the last part of the store's path.
  ///   - interval: the time between two looks at the store; at least a second. A look reads the statistics: O(namespaces).
  ///   - report: is called on the thread of the look.
  public init(
    of store: Store, named name: String? = nil, every interval: Duration = .seconds(15),
    report: Report
  ) {
    self.store = store
    self.name = name ?? store.path.split(separator: "/").last.map(String.init) ?? store.path
    self.interval = max(interval, .seconds(1))
    self.report = report
  }

  deinit { stop() }

  /// Starts to look at the store, first immediately and then at intervals; does nothing if the monitor has started.
  public func start() {
    task.withLock { task in
      guard task == nil else { return }
      task = Task.detached(priority: .utility) { [weak self, clock = store.clock, interval] in
        while !Task.isCancelled {
          let next = clock.monotonic + interval
          guard self?.lookOnce() == true else { return }
          do { try await clock.sleep(until: next) } catch { return }
        }
      }
    }
  }

  /// Stops the monitor; ``start()`` starts it again.
  public func stop() { task.withLock { $0.take() }?.cancel() }

  /// Looks at the store once, and reports.
  ///
  /// - Returns: whether the store is open. If the store is closed, nothing is reported.
  @discardableResult
  public func lookOnce() -> Bool {
    var events: [MonitoringEvent] = []
    let isOpen = last.withLock { last in
      do throws(LarderError) {
        // Without its files a store cannot commit the write buffer and has no statistics. So the health is read first.
        let health = try store.health()
        if health != last.health { events.append(health.event) }
        last.health = health
        var now = try store.statistics()
        if let before = last.statistics { now.keepReads(of: before) }
        events += now.events(since: last.statistics)
        (last.statistics, last.isUnreadable) = (now, false)
      } catch {
        if error.code == .closed { return false }
        if !last.isUnreadable {
          events.append(
            MonitoringEvent("unreadable", .error, "the statistics cannot be read: \(error.code)"))
        }
        last.isUnreadable = true
      }
      let isHealthy = last.health == .healthy && !last.isUnreadable
      report.metrics(MetricList(last.statistics, isHealthy: isHealthy, store: name).all)
      return true
    }
    // The closure for events may look again, so the lock is free.
    if isOpen { for event in events { report.event(event) } }
    return isOpen
  }
}

extension StoreMonitor.Report {
  /// A report that calls the closures of this report and then the closures of `other`.
  public func and(_ other: Self) -> Self {
    Self(
      metrics: {
        metrics($0)
        other.metrics($0)
      },
      event: {
        event($0)
        other.event($0)
      })
  }
}
