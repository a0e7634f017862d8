// The words of its errors, and the networking errors.
import Foundation
public import HTTPTypes
public import LarderHTTP

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// A service that answers from files, for `--offline`.
///
/// The folder has a file `answers.json`: a list of answers, each with the request's `path` including the query, the `file` of
/// the body, and optionally `status` and `fields`. The first match answers; a path that ends in `*` matches every path with
/// that beginning. An answer with an `ETag` is a 304 for a request that has it.
public struct Recording: HTTPTransport {
  struct Answer: Decodable {
    var path: String
    var file: String?
    var status: Int?
    var fields: [String: String]?

    func fits(_ path: String) -> Bool {
      self.path.hasSuffix("*") ? path.hasPrefix(self.path.dropLast()) : path == self.path
    }
  }

  private let folder: String
  private let answers: [Answer]

  /// - Parameter folder: with `answers.json` and the bodies.
  public init(folder: String) throws {
    self.folder = folder
    let file = try Data(contentsOf: URL(filePath: folder + "/answers.json"))
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
    for (name, value) in answer.fields ?? [:] {
      guard let name = HTTPField.Name(name) else { continue }
      response.headerFields.append(HTTPField(name: name, value: value))
    }
    if let tag = response.headerFields[.eTag], request.headerFields[.ifNoneMatch] == tag {
      response.status = .notModified
      return (response, HTTPBody())
    }
    guard let file = answer.file else { return (response, HTTPBody()) }
    do {
      return (response, HTTPBody(Array(try Data(contentsOf: URL(filePath: folder + "/" + file)))))
    } catch {
      throw Unreadable(file: folder + "/" + file, reason: error.fileWords)
    }
  }

  /// The file of a body cannot be read.
  public struct Unreadable: Error, CustomStringConvertible {
    public var file: String
    public var reason: String

    public var description: String { "the recording's \(file) cannot be read: \(reason)" }
  }
}

/// A network that does not exist: every request fails.
public struct Disconnected: HTTPTransport {
  public init() {}

  public func send(
    _ request: HTTPRequest, body: HTTPBody,
    interim: @escaping @Sendable (HTTPResponse) async -> Void
  ) async throws -> (HTTPResponse, HTTPBody) {
    throw URLError(.notConnectedToInternet)
  }
}
