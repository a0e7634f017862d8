import Foundation
import HTTPTypes
import LarderHTTP
import TestSupport

/// The documents of the package.
enum Documents {
  /// The paths of all Markdown files outside `.build`, `Tests` and `Sources`.
  static func pages() throws -> [String] {
    var pages = try names(in: "").filter { $0.hasSuffix(".md") }
    for folder in ["Docs", "Examples"] {
      for name in try names(in: folder) where !name.hasPrefix(".") {
        if name.hasSuffix(".md") { pages.append("\(folder)/\(name)") }
        pages += try names(in: "\(folder)/\(name)").filter { $0.hasSuffix(".md") }
          .map { "\(folder)/\(name)/\($0)" }
      }
    }
    return pages.sorted()
  }

  /// The names in a folder; none if the path is that of a file.
  private static func names(in folder: String) throws -> [String] {
    let url = Repository.root.appendingPathComponent(folder)
    guard try url.resourceValues(forKeys: [.isDirectoryKey]).isDirectory == true else { return [] }
    return try FileManager.default.contentsOfDirectory(atPath: url.path)
  }

  /// The paths of the articles in the folders `.docc` of the libraries.
  static func articles() throws -> [String] {
    let paths = try FileManager.default.subpathsOfDirectory(
      atPath: Repository.root.appendingPathComponent("Sources").path)
    return paths.filter { $0.contains(".docc/") && $0.hasSuffix(".md") }.map { "Sources/" + $0 }
  }
}

/// A service without a network, which the programs of the pages ask.
struct Origin: HTTPTransport {
  struct Board: Codable, Equatable { var boats: Int }
  struct Color: Codable, Equatable { var name: String }

  func board(_ place: String) async throws -> Board { Board(boats: place.count) }
  func color(_ key: String) async throws -> Color { Color(name: "Color " + key) }
  func price(_ name: String) async throws -> Int { 200 }
  func download(_ url: String) async throws -> [UInt8] { Array(url.utf8) }
  func complete(_ prompt: String) async throws -> String { "An answer to: " + prompt }

  func send(
    _ request: HTTPRequest, body: HTTPBody,
    interim: @escaping @Sendable (HTTPResponse) async -> Void
  ) async throws -> (HTTPResponse, HTTPBody) {
    let fields: HTTPFields = [.cacheControl: "max-age=100"]
    return (HTTPResponse(status: .ok, headerFields: fields), HTTPBody(Array("page".utf8)))
  }
}
