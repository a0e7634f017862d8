import Foundation
public import HTTPTypes
public import LarderHTTP
public import LarderHTTPTesting

/// The first program on a page of the examples.
public struct PageProgram {
  private let lines: [String]

  /// - Parameter page: its path in the examples.
  public init(of page: String) throws {
    let text = try String(contentsOf: Folders.examples.appending(path: page), encoding: .utf8)
    let block = text.components(separatedBy: "```swift\n").dropFirst().first ?? ""
    lines = Self.lines(block.components(separatedBy: "```").first ?? "")
  }

  /// Whether the file has the lines of the program, one below the other; comments do not count.
  public func isIn(_ file: String) throws -> Bool {
    let compiled = Self.lines(try String(contentsOfFile: file, encoding: .utf8))
    return !lines.isEmpty && compiled.indices.contains { compiled[$0...].starts(with: lines) }
  }

  private static func lines(_ text: String) -> [String] {
    text.components(separatedBy: "\n").map {
      ($0.components(separatedBy: "  //").first ?? "").trimmingCharacters(in: .whitespaces)
    }.filter { !$0.isEmpty }
  }
}

/// Carries requests to any host to a server of the test.
public struct LocalTransport: HTTPTransport {
  private let server: LocalServer
  private let base: any HTTPTransport

  public init(to server: LocalServer, over base: any HTTPTransport) {
    (self.server, self.base) = (server, base)
  }

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
