import Foundation
public import HTTPTypes
public import LarderHTTP

#if canImport(FoundationNetworking)
  public import FoundationNetworking
#endif

/// Carries requests with `URLSession`, which neither caches, nor keeps cookies, nor follows redirections here.
///
/// `URLSession` decodes bodies, joins repeated fields and orders them as it likes, tells nothing of interim answers, and
/// gives a body when all of it is there.
public final class URLSessionTransport: HTTPTransport {
  private let session: URLSession

  public init(configuration: URLSessionConfiguration = .ephemeral) {
    configuration.urlCache = nil
    configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
    configuration.httpCookieStorage = nil
    configuration.httpShouldSetCookies = false
    session = URLSession(
      configuration: configuration, delegate: RedirectionsAsAnswers(), delegateQueue: nil)
  }

  deinit { session.finishTasksAndInvalidate() }

  public func send(
    _ request: HTTPRequest, body: [UInt8],
    interim: @escaping @Sendable (HTTPResponse) async -> Void
  ) async throws -> (HTTPResponse, HTTPBody) {
    do {
      let (data, answer) = try await session.data(for: URLRequest(request, body: body))
      guard let answer = answer as? HTTPURLResponse else { throw URLError(.badServerResponse) }
      return (HTTPResponse(answer, size: data.count), HTTPBody(Array(data)))
    } catch let error as URLError where error.code == .cancelled {
      throw CancellationError()
    }
  }
}

/// The cache answers what it is asked, and the client decides where to go on.
private final class RedirectionsAsAnswers: NSObject, URLSessionTaskDelegate {
  func urlSession(
    _ session: URLSession, task: URLSessionTask,
    willPerformHTTPRedirection response: HTTPURLResponse, newRequest request: URLRequest,
    completionHandler: @escaping @Sendable (URLRequest?) -> Void
  ) {
    completionHandler(nil)
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
  fileprivate init(_ answer: HTTPURLResponse, size: Int) {
    self.init(status: .init(code: answer.statusCode))
    for (name, value) in answer.allHeaderFields {
      guard let name = (name as? String).flatMap({ HTTPField.Name($0) }),
        let value = value as? String
      else { continue }
      headerFields.append(HTTPField(name: name, lenientValue: Array(value.utf8)))
    }
    // What was decoded on the way is not encoded any more.
    if let coding = headerFields[.contentEncoding]?.lowercased(),
      ["gzip", "x-gzip", "deflate", "br"].contains(coding)
    {
      headerFields[.contentEncoding] = nil
      headerFields[.contentLength] = String(size)
    }
  }
}
