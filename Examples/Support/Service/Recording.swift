import Foundation
public import HTTPTypes
public import LarderHTTP

/// A service that answers from files, for `--offline`.
///
/// The list `answers.json` in the folder has for each answer the request's `path` with the query, the `file` of the body, and
/// optionally `status` and `fields`. The first answer whose path matches is used; a path that ends in `*` matches every path
/// with that beginning. If a request has the `ETag` of its answer, it gets a 304.
public struct Recording: HTTPTransport {
  private struct Answer: Decodable {
    var path: String
    var file: String?
    var status: Int?
    var fields: [String: String]?

    func fits(_ path: String) -> Bool {
      self.path.hasSuffix("*") ? path.hasPrefix(self.path.dropLast()) : path == self.path
    }
  }

  private static let types = [
    "json": "application/json", "html": "text/html", "svg": "image/svg+xml",
  ]
  private let folder: URL
  private let answers: [Answer]

  public init(folder: String) throws {
    self.folder = URL(filePath: folder)
    let file = try Data(contentsOf: self.folder.appending(path: "answers.json"))
    answers = try JSONDecoder().decode([Answer].self, from: file)
  }

  public func send(
    _ request: HTTPRequest, body: HTTPBody,
    interim: @escaping @Sendable (HTTPResponse) async -> Void
  ) async throws -> (HTTPResponse, HTTPBody) {
    guard let answer = answers.first(where: { $0.fits(request.path ?? "/") }) else {
      return (HTTPResponse(status: .notFound), HTTPBody())
    }
    var response = HTTPResponse(status: .init(code: answer.status ?? 200))
    let file = answer.file.map { folder.appending(path: $0) }
    response.headerFields[.contentType] = file.flatMap { Self.types[$0.pathExtension] }
    for (name, value) in answer.fields ?? [:] {
      if let name = HTTPField.Name(name) { response.headerFields[name] = value }
    }
    if let tag = response.headerFields[.eTag], request.headerFields[.ifNoneMatch] == tag {
      response.status = .notModified
      return (response, HTTPBody())
    }
    return (response, HTTPBody(try file.map { Array(try Data(contentsOf: $0)) } ?? []))
  }
}

/// A missing network: every request fails.
public struct Disconnected: HTTPTransport {
  public init() {}

  public func send(
    _ request: HTTPRequest, body: HTTPBody,
    interim: @escaping @Sendable (HTTPResponse) async -> Void
  ) async throws -> (HTTPResponse, HTTPBody) {
    throw ServiceError.failed(.offline, "there is no network")
  }
}
