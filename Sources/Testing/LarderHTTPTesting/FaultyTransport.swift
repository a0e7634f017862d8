#if HTTP
  import Foundation
  public import HTTPTypes
  public import LarderHTTP
  import Synchronization

  #if canImport(FoundationNetworking)
    import FoundationNetworking
  #endif

  /// A transport that injects faults into the answers of another transport.
  ///
  ///     let network = FaultyTransport(over: origin)
  ///     network.plan = [.pass, .cutBody(after: 10), .fail(URLError(.timedOut))]
  ///     let cache = HTTPCache(in: namespace, over: network)
  ///
  /// Each request takes the next fault of the plan. After the last fault, requests get the other transport's answers.
  public final class FaultyTransport: HTTPTransport {
    /// The fault of a request.
    public enum Fault: Sendable {
      /// The other transport's answer, unchanged.
      case pass
      /// The request fails before it is sent.
      case fail(any Error)
      /// The request is sent, and its answer is lost.
      case lose(any Error)
      /// The request is not sent. Its answer has this status, no fields and no body.
      case status(Int)
      /// The body ends with an error after this number of bytes.
      case cutBody(after: Int)
      /// No answer arrives until the task is cancelled.
      case hang
    }

    /// The body ended before its announced end.
    public struct BodyCut: Error {
      /// The number of bytes that were received.
      public let received: Int
    }

    private struct State {
      var plan: [Fault] = []
      var sent: [HTTPRequest] = []
    }

    private let origin: any HTTPTransport
    private let state = Mutex(State())

    /// - Parameter origin: the transport that answers the requests.
    public init(over origin: some HTTPTransport) { self.origin = origin }

    public var addedFields: HTTPFields { origin.addedFields }

    /// The faults of the next requests, in order; each request takes one fault.
    public var plan: [Fault] {
      get { state.withLock { $0.plan } }
      set { state.withLock { $0.plan = newValue } }
    }

    /// All requests, in order. Failed requests are included.
    public var requests: [HTTPRequest] { state.withLock { $0.sent } }

    /// Takes the next fault of the plan, and sends the request if the fault allows that.
    public func send(
      _ request: HTTPRequest, body: HTTPBody,
      interim: @escaping @Sendable (HTTPResponse) async -> Void
    ) async throws -> (HTTPResponse, HTTPBody) {
      let fault = state.withLock { state in
        state.sent.append(request)
        return state.plan.isEmpty ? Fault.pass : state.plan.removeFirst()
      }
      switch fault {
      case .pass: return try await origin.send(request, body: body, interim: interim)
      case .fail(let error): throw error
      case .lose(let error):
        _ = try await origin.send(request, body: body, interim: interim)
        throw error
      case .status(let code): return (HTTPResponse(status: .init(code: code)), HTTPBody())
      case .cutBody(let count):
        let (response, body) = try await origin.send(request, body: body, interim: interim)
        return (response, try await Self.cut(body, after: count))
      case .hang: while true { try await Task.sleep(for: .seconds(3600)) }
      }
    }

    private static func cut(_ body: HTTPBody, after count: Int) async throws -> HTTPBody {
      let bytes = Array(try await body.bytes().prefix(count))
      let isGiven = Atomic(bytes.isEmpty)
      return HTTPBody(next: {
        guard isGiven.exchange(true, ordering: .relaxed) else { return bytes }
        throw BodyCut(received: bytes.count)
      })
    }
  }

  /// A transport on which every request fails with one error, before anything is sent.
  public struct FailingTransport: HTTPTransport {
    /// A network without a connection: `URLError.notConnectedToInternet`.
    public static let offline = FailingTransport(with: URLError(.notConnectedToInternet))

    private let error: any Error

    /// - Parameter error: the error of every request.
    public init(with error: any Error) { self.error = error }

    /// Throws the error.
    public func send(
      _ request: HTTPRequest, body: HTTPBody,
      interim: @escaping @Sendable (HTTPResponse) async -> Void
    ) async throws -> (HTTPResponse, HTTPBody) {
      throw error
    }
  }
#endif
