import HTTPTypes
import LarderHTTP

/// Writes answers to one request.
struct AnswerWriter: Sendable {
  private let connection: Connection
  private let isHTTP11: Bool
  private let method: HTTPRequest.Method

  init(_ connection: Connection, isHTTP11: Bool, method: HTTPRequest.Method) {
    self.connection = connection
    self.isHTTP11 = isHTTP11
    self.method = method
  }

  func write(interim: HTTPResponse) async throws {
    var interim = interim
    interim.headerFields = interim.headerFields.endToEnd
    interim.headerFields[.contentLength] = nil
    try await connection.write(interim.encodedHead)
  }

  /// An answer without a body.
  func write(_ response: HTTPResponse) async throws {
    _ = try await write(response, HTTPBody())
  }

  /// Writes the answer; whether it ended where it says, so that another can follow.
  func write(_ answer: HTTPResponse, _ body: HTTPBody) async throws -> Bool {
    var response = answer
    response.headerFields = answer.headerFields.endToEnd
    guard hasBody(response) else {
      if response.status.code == 204 { response.headerFields[.contentLength] = nil }
      try await connection.write(response.encodedHead)
      return true
    }
    var framing = Framing(of: response, to: method)
    // A length that is not that of the body was wrong about another one.
    if let count = body.count, framing != .length(count) {
      response.headerFields[.contentLength] = String(count)
      framing = .length(count)
    }
    if framing == .untilClose {
      response.headerFields[.contentLength] = nil
      if isHTTP11 {
        response.headerFields[.transferEncoding] = "chunked"
        framing = .chunked
      }
    }
    if framing == .untilClose { response.headerFields[.connection] = "close" }
    return try await write(response.encodedHead, body, framing)
  }

  private func hasBody(_ response: HTTPResponse) -> Bool {
    method != .head && ![204, 304].contains(response.status.code)
  }

  private func write(_ head: [UInt8], _ body: HTTPBody, _ framing: Framing) async throws -> Bool {
    var pending = head
    var hasBegun = false
    var rest: Int? = if case .length(let count) = framing { count } else { nil }
    var pieces = body.makeAsyncIterator()
    while rest != 0 {
      let next: [UInt8]?
      do {
        next = try await pieces.next()
      } catch {
        // The origin has broken off or gone silent, or the stored body is gone: what came is passed on, and no end that the
        // body did not have.
        if hasBegun { return false }
        return try await write(.failure(error), HTTPBody())
      }
      guard var piece = next else { break }
      if piece.isEmpty { continue }
      // A connection that goes on carries exactly the announced bytes, or the next response begins at a wrong place.
      if let left = rest {
        if piece.count > left { piece = Array(piece.prefix(left)) }
        rest = left - piece.count
      }
      try await connection.write(pending, framing == .chunked ? piece.asChunk : piece)
      pending = []
      hasBegun = true
    }
    if framing == .chunked { pending += .lastChunk }
    if !pending.isEmpty { try await connection.write(pending) }
    return framing != .untilClose && (rest ?? 0) == 0
  }
}
