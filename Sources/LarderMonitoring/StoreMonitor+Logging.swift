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
