#if Tracing
  import Larder
  import Synchronization
  import Tracing

  /// A span that ends only once: on request, after an error, or when its last reference is released.
  final class OpenSpan: Sendable {
    let tracer: any Tracer
    private let span: any Span
    private let isEnded = Atomic(false)

    init(_ name: String, _ kind: SpanKind, by tracer: (any Tracer)?) {
      self.tracer = tracer ?? InstrumentationSystem.tracer
      span = self.tracer.startSpan(name, ofKind: kind)
    }

    deinit { end() }

    var context: ServiceContext { span.context }

    func set(_ name: String, _ value: some SpanAttributeConvertible) {
      span.attributes[name] = value.toSpanAttribute()
    }

    /// Runs `call` in the context of the span. An error of `call` ends the span.
    func run<Result>(_ call: () async throws -> Result) async throws -> Result {
      do {
        return try await ServiceContext.$current.withValue(context) { try await call() }
      } catch {
        fail(error)
        throw error
      }
    }

    /// Notes a failure by its type, not by its message: a message could have any text, but a program has few types of failure.
    func fail(type: String) {
      set("error.type", type)
      span.setStatus(SpanStatus(code: .error))
    }

    func fail(_ error: any Error) {
      if isEnded.load(ordering: .relaxed) { return }
      fail(type: (error as? LarderError)?.code.rawValue ?? String(reflecting: type(of: error)))
      end()
    }

    func end() { if !isEnded.exchange(true, ordering: .relaxed) { span.end() } }
  }
#endif
