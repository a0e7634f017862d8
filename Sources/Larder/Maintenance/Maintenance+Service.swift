#if ServiceLifecycle
  public import ServiceLifecycle

  extension Maintenance: Service {
    /// Looks after the store until the service is shut down or its task cancelled; a run under way ends first.
    public func run() async throws {
      start()
      defer { stop() }
      try await gracefulShutdown()
    }
  }
#endif
