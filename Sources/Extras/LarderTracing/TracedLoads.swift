#if Tracing
  public import Larder
  public import Tracing

  extension Store {
    /// Makes a span around each later load of this store in this process. The span is `load NAMESPACE`, or `refresh NAMESPACE`
    /// for a load in the background. A hit makes no span.
    ///
    /// A span has the context of the caller that began the load, even if other callers share the load. The closure of the load
    /// runs in the context of the span. The attributes are `larder.namespace`, `larder.load.keys` if one call loads several
    /// keys, and `error.type`. No attribute has a key or a value of the store.
    ///
    /// - Parameter tracer: makes the spans. If the value is nil, each load uses the tracer that the program has at that time.
    public func traceLoads(with tracer: (any Tracer)? = nil) {
      observeLoads(by: TracedLoads(tracer: tracer))
    }
  }

  private struct TracedLoads: LoadObserver {
    let tracer: (any Tracer)?

    func run<Result>(
      _ load: ObservedLoad, _ call: () async throws -> Result
    ) async throws -> Result {
      let span = OpenSpan(
        (load.isRefresh ? "refresh " : "load ") + load.namespace, .internal, by: tracer)
      span.set("larder.namespace", load.namespace)
      if let keys = load.keys { span.set("larder.load.keys", keys) }
      let result = try await span.run(call)
      span.end()
      return result
    }
  }
#else
  public import Larder

  extension Store {
    @available(
      *, unavailable,
      message: "LarderTracing needs the trait Tracing: .package(..., traits: [\"Tracing\"])"
    )
    public func traceLoads() {}
  }
#endif
