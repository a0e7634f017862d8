// For the words of its errors.
import Foundation
public import HTTPTypes
public import LarderHTTP

/// A service that answers from files: what programs use in the place of the network with `--offline`.
///
/// The folder has a file `answers.json`: a list of answers, each with the request's `path` (its query included, as the
/// program asks it), the `file` that is the body, and, where they differ from 200 and none, `status` and `fields`. The first
/// that fits answers: one whose path ends in `*` fits every path that begins so. An answer with an `ETag` is 304 to who
/// has it already.
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
    _ request: HTTPRequest, body: [UInt8],
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
      throw Unreadable(file: folder + "/" + file, reason: error.localizedDescription)
    }
  }

  /// A body that is not there, or cannot be read.
  public struct Unreadable: Error, CustomStringConvertible {
    public var file: String
    public var reason: String

    public var description: String { "the recording's \(file) cannot be read: \(reason)" }
  }
}
