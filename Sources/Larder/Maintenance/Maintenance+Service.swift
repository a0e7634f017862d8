#if ServiceLifecycle
  public import ServiceLifecycle

  extension Maintenance: Service {
    /// Maintains the store until the service is shut down or its task is cancelled; a run in progress ends first.
    public func run() async throws {
      start()
      defer { stop() }
      try await gracefulShutdown()
    }
  }
#endif
