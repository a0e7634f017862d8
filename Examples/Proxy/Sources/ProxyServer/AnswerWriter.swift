import HTTPTypes
import LarderHTTP
import NIOCore

/// Writes answers to one request.
struct AnswerWriter: Sendable {
  private let connection: Connection
  private let isHTTP11: Bool
  private let method: HTTPRequest.Method
  private let isLast: @Sendable () -> Bool

  /// - Parameter isLast: whether this is the last answer over the connection.
  init(
    _ connection: Connection, isHTTP11: Bool, method: HTTPRequest.Method,
    isLast: @escaping @Sendable () -> Bool
  ) {
    self.connection = connection
    self.isHTTP11 = isHTTP11
    self.method = method
    self.isLast = isLast
  }

  func write(interim: HTTPResponse) async throws {
    var interim = interim
    interim.headerFields = interim.headerFields.endToEnd
    interim.headerFields[.contentLength] = nil
    try await connection.write(interim.encodedHead)
  }

  /// Writes an answer without a body.
  func write(_ response: HTTPResponse) async throws {
    _ = try await write(response, HTTPBody())
  }

  /// Writes the answer. Returns whether the answer ended as its head announces, so that another answer can follow.
  func write(_ answer: HTTPResponse, _ body: consuming HTTPBody) async throws -> Bool {
    var response = answer
    response.headerFields = answer.headerFields.endToEnd
    if isLast() { response.headerFields[.connection] = "close" }
    guard hasBody(response) else {
      if response.status.code == 204 { response.headerFields[.contentLength] = nil }
      try await connection.write(response.encodedHead)
      return true
    }
    var framing = Framing(of: response, to: method)
    // If the stated length is not the length of this body, the field is about another body, so the field is replaced.
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

  private func write(
    _ head: [UInt8], _ body: consuming HTTPBody, _ framing: Framing
  ) async throws -> Bool {
    var pending = head
    var hasBegun = false
    var rest: Int? = if case .length(let count) = framing { count } else { nil }
    var pieces = body.makeAsyncIterator()
    while rest != 0 {
      // No other variable holds the piece, so `finish` can release it.
      var piece: [UInt8] = []
      do {
        guard let next = try await pieces.next() else { break }
        piece = next
      } catch {
        // The origin broke the connection or sent nothing for too long, or the stored body is gone. The client gets the bytes
        // that have come, but not the end of the body, so the client can see that bytes are missing.
        if hasBegun { return false }
        return try await write(.failure(error), HTTPBody())
      }
      if piece.isEmpty { continue }
      if framing == .chunked {
        piece = await shortened(piece, &pieces).asChunk
        try await write(&pending, &piece)
      } else if let left = rest, piece.count > left {
        // A client would read surplus bytes as the next response, so exactly the announced bytes are written.
        piece = Array(piece.prefix(left))
        rest = 0
        try await write(&pending, &piece)
      } else {
        let count = piece.count
        let surplus = try await write(&pending, &piece, from: &pieces)
        rest = rest.map { $0 - count + surplus }
      }
      hasBegun = true
    }
    if framing == .chunked { pending += .lastChunk }
    if !pending.isEmpty { try await connection.write(pending) }
    return framing != .untilClose && (rest ?? 0) == 0
  }

  /// The bytes of a piece to write now: fewer than all bytes if the proxy already holds many bytes and the body can rewind.
  private func shortened(_ piece: [UInt8], _ pieces: inout HTTPBody.Iterator) async -> [UInt8] {
    let size = connection.held.smallPiece
    guard piece.count > size, !connection.held.hasRoom,
      await pieces.rewind(by: piece.count - size)
    else { return piece }
    return Array(piece.prefix(size))
  }

  private func write(_ head: inout [UInt8], _ piece: inout [UInt8]) async throws {
    let taken = try connection.writeSome(head, piece)
    try await finish(&head, &piece, from: taken, count: head.count + piece.count - taken)
  }

  /// Writes a piece. If the client does not take the piece and no room is left, a body that can rewind takes most bytes back.
  ///
  /// - Returns: the number of bytes that went back to the body.
  private func write(
    _ head: inout [UInt8], _ piece: inout [UInt8], from pieces: inout HTTPBody.Iterator
  ) async throws -> Int {
    let taken = try connection.writeSome(head, piece)
    let left = head.count + piece.count - taken
    let surplus = min(left - connection.held.smallPiece, piece.count)
    guard surplus > 0, !connection.held.hasRoom, await pieces.rewind(by: surplus) else {
      try await finish(&head, &piece, from: taken, count: left)
      return 0
    }
    try await finish(&head, &piece, from: taken, count: left - surplus)
    return surplus
  }

  /// Waits until the client has taken `count` bytes after the first `taken` bytes. Holds only these `count` bytes meanwhile.
  private func finish(
    _ head: inout [UInt8], _ piece: inout [UInt8], from taken: Int, count: Int
  ) async throws {
    guard count > 0 else {
      head = []
      return
    }
    let rest = connection.rest(of: head, piece, from: taken, count: count)
    (head, piece) = ([], [])
    let counted = count > connection.held.smallPiece ? rest.capacity : 0
    connection.held.add(counted)
    defer { connection.held.release(counted) }
    try await connection.write(rest)
  }
}
