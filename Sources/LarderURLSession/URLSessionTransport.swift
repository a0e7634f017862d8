import Foundation
public import HTTPTypes
public import LarderHTTP

#if canImport(FoundationNetworking)
  public import FoundationNetworking
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
    configuration.urlCache = nil
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

extension URLRequest {
  fileprivate init(_ request: HTTPRequest, body: [UInt8]) throws {
    let origin = (request.scheme ?? "https") + "://" + (request.authority ?? "")
    guard let url = URL(string: origin + (request.path ?? "/")) else { throw URLError(.badURL) }
    self.init(url: url, cachePolicy: .reloadIgnoringLocalCacheData)
    httpMethod = request.method.rawValue
    for field in request.headerFields {
      addValue(field.value, forHTTPHeaderField: field.name.rawName)
    }
    if !body.isEmpty { httpBody = Data(body) }
  }
}

extension HTTPResponse {
  fileprivate init(_ answer: HTTPURLResponse) {
    self.init(status: .init(code: answer.statusCode))
    for (name, value) in answer.allHeaderFields {
      guard let name = (name as? String).flatMap({ HTTPField.Name($0) }),
        let value = value as? String
      else { continue }
      headerFields.append(HTTPField(name: name, lenientValue: Array(value.utf8)))
    }
    // `URLSession` has decoded the body, so these fields no longer describe it.
    if let coding = headerFields[.contentEncoding]?.lowercased(),
      ["gzip", "x-gzip", "deflate", "br"].contains(coding)
    {
      headerFields[.contentEncoding] = nil
      headerFields[.contentLength] = nil
    }
  }
}
