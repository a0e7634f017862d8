#if Metrics
  public import CoreMetrics
  import Synchronization

  extension StoreMonitor.Report {
    /// Metrics as gauges and counters of swift-metrics. At the first look each counter begins at 0, even if its metric is higher.
    ///
    /// - Parameter factory: makes the gauges and counters; the default is the factory that the program has bootstrapped.
    public static func metrics(to factory: any MetricsFactory = MetricsSystem.factory) -> Self {
      let recorders = Recorders(factory: factory)
      return Self(metrics: { metrics in recorders.record(metrics) })
    }
  }

  /// The gauges and counters of each store by metric. Each counter is stored together with the last value of its metric.
  private final class Recorders: Sendable {
    private struct Name: Hashable {
      let name: String
      let dimensions: [Metric.Dimension]
    }

    private struct State {
      var gauges: [Name: Gauge] = [:]
      var counters: [Name: (counter: Counter, last: Double)] = [:]
      var hasLooked = false
    }

    private let factory: any MetricsFactory
    private let states = Mutex<[Metric.Dimension?: State]>([:])

    init(factory: any MetricsFactory) { self.factory = factory }

    func record(_ metrics: [Metric]) {
      // The monitors of several stores may share a report. The first label of each metric is the name of its store.
      let store = metrics.first?.dimensions.first
      states.withLock { states in
        var state = states.removeValue(forKey: store) ?? State()
        let present = Set(metrics.map { Name(name: $0.name, dimensions: $0.dimensions) })
        // After the first look, a new metric is of a new namespace, so its whole value is the rise. But if counters are gone, the
        // new metric may be of a renamed namespace, which keeps its counts.
        let countsFromZero =
          state.hasLooked && state.counters.keys.allSatisfy { present.contains($0) }
        for metric in metrics {
          let name = Name(name: metric.name, dimensions: metric.dimensions)
          let labels = metric.dimensions.map { ($0.name, $0.value) }
          switch metric.kind {
          case .gauge:
            let gauge =
              state.gauges[name] ?? Gauge(label: metric.name, dimensions: labels, factory: factory)
            state.gauges[name] = gauge
            gauge.record(metric.value)
          case .counter:
            let (counter, last) =
              state.counters[name] ?? (
                counter: Counter(label: metric.name, dimensions: labels, factory: factory),
                last: countsFromZero ? 0 : metric.value
              )
            // After a reset of the statistics the metric begins at 0 again, so its whole value is the rise.
            let rise = metric.value >= last ? metric.value - last : metric.value
            state.counters[name] = (counter, metric.value)
            if rise > 0 { counter.increment(by: Int64(rise)) }
          }
        }
        // Without statistics, a look reports only the health of the store, and no counter.
        state.hasLooked = state.hasLooked || metrics.count > 1
        // A namespace that was removed reports nothing any more, so its gauges are destroyed.
        for (name, gauge) in state.gauges where !present.contains(name) {
          gauge.destroy()
          state.gauges[name] = nil
        }
        for (name, (counter, _)) in state.counters where !present.contains(name) {
          counter.destroy()
          state.counters[name] = nil
        }
        states[store] = state
      }
    }
  }
#endif

#if Logging
  public import Logging

  extension StoreMonitor.Report {
    /// Events as lines of a logger, with the metadata `event` and, for a namespace, `namespace`.
    public static func logging(to logger: Logger) -> Self {
      Self(event: { event in
        var metadata: Logger.Metadata = ["event": .string(event.name)]
        if let namespace = event.namespace { metadata["namespace"] = .string(namespace) }
        logger.log(level: event.level.logLevel, "\(event.message)", metadata: metadata)
      })
    }
  }

  extension MonitoringEvent.Level {
    fileprivate var logLevel: Logger.Level {
      switch self {
      case .notice: .notice
      case .warning: .warning
      case .error: .error
      }
    }
  }
#endif
