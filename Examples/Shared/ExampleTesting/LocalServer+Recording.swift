import Foundation
import HTTPTypes
import LarderHTTP
public import LarderHTTPTesting
import Service

extension LocalServer {
  /// Answers from the recording of an example, after a pause: time for other processes to ask too.
  ///
  /// - Parameter folder: its path in the examples.
  public func replay(_ folder: String, after pause: Duration = .zero) throws {
    let recording = try Recording(folder: Folders.examples.appending(path: folder).path)
    become { request in
      if pause > .zero { try await Task.sleep(for: pause) }
      var question = HTTPRequest(method: .get, scheme: nil, authority: nil, path: request.path)
      question.headerFields[.ifNoneMatch] = request.fields["if-none-match"]
      let (response, body) = try await recording.send(question, body: HTTPBody()) { _ in }
      let fields = response.headerFields.map { ($0.name.rawName, $0.value) }
      return try await Answer(
        response.status.code, Dictionary(fields) { first, _ in first }, body: .init(body.bytes()))
    }
  }
}
