public import HTTPTypes
public import LarderHTTP

#if canImport(FoundationNetworking)
  import Foundation
  public import FoundationNetworking
#else
  public import Foundation
#endif

/// Sends requests with `URLSession`, without its cache, its cookies and its redirections.
///
/// `URLSession` decodes bodies, joins and reorders fields, reports no interim responses, and reads a body without
/// back-pressure. The body of a request is read into memory first, at most 64 MB of it.
public final class URLSessionTransport: HTTPTransport {
  private let session: URLSession
  private let exchanges = SessionExchanges()

  /// A transport with a session of its own. The session keeps no cache and no cookies.
  public init(configuration: URLSessionConfiguration = .ephemeral) {
    let configuration = configuration.copy() as? URLSessionConfiguration ?? configuration
    configuration.urlCache = nil
    // A request to the origin must not come back to a cache.
    configuration.protocolClasses = configuration.protocolClasses?.filter {
      !($0 is HTTPCacheURLProtocol.Type)
    }
    configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
    configuration.httpCookieStorage = nil
    configuration.httpShouldSetCookies = false
    session = URLSession(configuration: configuration, delegate: exchanges, delegateQueue: nil)
  }

  private static let largestUpload = 64_000_000

  deinit { session.finishTasksAndInvalidate() }

  public func send(
    _ request: HTTPRequest, body: HTTPBody,
    interim: @escaping @Sendable (HTTPResponse) async -> Void
  ) async throws -> (HTTPResponse, HTTPBody) {
    let bytes = try await body.bytes(upTo: Self.largestUpload)
    let arrivals = Arrivals(
      exchanges.begin(session.dataTask(with: try URLRequest(request, body: bytes))))
    guard case .head(let answer) = try await arrivals.next() else {
      throw URLError(.badServerResponse)
    }
    guard answer.allHeaderFields.count <= HTTPCacheError.largestFieldCount else {
      throw HTTPCacheError.tooManyFields(answer.allHeaderFields.count)
    }
    return (HTTPResponse(answer), HTTPBody(next: { try await arrivals.nextPiece() }))
  }
}

/// The events of a task, for the reader of its body.
private actor Arrivals {
  private var iterator: AsyncThrowingStream<Arrival, any Error>.Iterator

  init(_ arrivals: AsyncThrowingStream<Arrival, any Error>) {
    iterator = arrivals.makeAsyncIterator()
  }

  func next() async throws -> Arrival? {
    var iterator = iterator
    let arrival = try await iterator.next(isolation: self)
    self.iterator = iterator
    // The stream of a cancelled task ends early.
    if arrival == nil { try Task.checkCancellation() }
    return arrival
  }

  func nextPiece() async throws -> [UInt8]? {
    guard case .piece(let piece) = try await next() else { return nil }
    return piece
  }
}
