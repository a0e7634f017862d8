import Foundation
public import HTTPTypes
public import LarderHTTP
public import LarderHTTPTesting
import LarderURLSession
import Service
import TestSupport

extension LocalServer {
  /// Answers from the recording of an example, such as `Lego/Sample`. Runs `hold` before each answer.
  public func replay(
    _ folder: String, hold: @escaping @Sendable () async throws -> Void = {}
  ) throws {
    let recording = try Recording(folder: Repository.root.path + "/Examples/" + folder)
    become { request in
      try await hold()
      var question = HTTPRequest(method: .get, scheme: nil, authority: nil, path: request.path)
      question.headerFields[.ifNoneMatch] = request.fields["if-none-match"]
      let (response, body) = try await recording.send(question, body: HTTPBody()) { _ in }
      let fields = response.headerFields.map { ($0.name.rawName, $0.value) }
      return try await Answer(
        response.status.code, Dictionary(fields) { first, _ in first }, body: .init(body.bytes()))
    }
  }
}

extension LocalServer.Answer {
  public init(_ status: Int = 200, _ fields: [String: String] = [:], json text: String) {
    self.init(
      status, fields.merging(["Content-Type": "application/json"]) { own, _ in own }, text: text)
  }

  /// An answer with the JSON of objects that `JSONSerialization` can write.
  public init(_ status: Int = 200, _ fields: [String: String] = [:], json: Any) {
    let data = try? JSONSerialization.data(withJSONObject: json, options: .sortedKeys)
    self.init(status, fields, json: String(decoding: data ?? Data(), as: UTF8.self))
  }
}

/// Sends requests to any host to a server of the test.
public struct LocalTransport: HTTPTransport {
  private let server: LocalServer
  private let base = URLSessionTransport()

  public init(to server: LocalServer) { self.server = server }

  public func send(
    _ request: HTTPRequest, body: HTTPBody,
    interim: @escaping @Sendable (HTTPResponse) async -> Void
  ) async throws -> (HTTPResponse, HTTPBody) {
    var request = request
    request.scheme = "http"
    request.authority = String(server.base.dropFirst("http://".count))
    return try await base.send(request, body: body, interim: interim)
  }
}
