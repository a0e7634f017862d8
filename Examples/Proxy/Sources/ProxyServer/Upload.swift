import LarderHTTP
import Synchronization

/// Sends the body of a request. The response may begin before the body ends.
final class Upload: Sendable {
  private let body: HTTPBody
  private let connection: Connection
  private let reason = Mutex<(any Error)?>(nil)

  init(_ body: HTTPBody, over connection: Connection) {
    self.body = body
    self.connection = connection
  }

  /// The reason why the body could not be read to its end; nil without such a failure.
  var failure: (any Error)? { reason.withLock { $0 } }

  /// Sends the head, and then the body. A body in memory of at most 64 KB is sent now, any other body in a task of its own.
  func begin(after head: [UInt8]) async throws {
    if let whole = body.whole, whole.count <= 1 << 16 {
      try await connection.write(head, whole)
      return
    }
    try await connection.write(head)
    Task { await run() }
  }

  /// Sends the body. The end of the connection ends the upload, because the next piece cannot be written.
  private func run() async {
    let isChunked = body.count == nil
    var left = body.count ?? 0
    var pieces = body.makeAsyncIterator()
    do {
      while true {
        let next: [UInt8]?
        do {
          next = try await pieces.next()
        } catch {
          reason.withLock { $0 = error }
          connection.close()
          return
        }
        guard let piece = next else { break }
        if piece.isEmpty { continue }
        for start in stride(from: 0, to: piece.count, by: 1 << 16) {
          var part = Array(piece[start..<min(start + 1 << 16, piece.count)])
          if !isChunked {
            part = Array(part.prefix(left))
            left -= part.count
          }
          try await connection.write(isChunked ? part.asChunk : part)
        }
      }
      if isChunked { try await connection.write(.lastChunk) }
      // If a body is shorter than announced, the request stays incomplete, so the connection is of no further use.
      if left > 0 { connection.close() }
    } catch {
      // The origin no longer reads. The error is ignored, because the origin may already have answered, for example with a 413.
    }
  }
}
