#if Hummingbird
  import HTTPTypes
  import Hummingbird
  import Larder
  import LarderHTTP
  import NIOCore

  actor BodyPieces {
    private let body: RequestBody
    private var iterator: RequestBody.AsyncIterator?

    init(_ body: RequestBody) { self.body = body }

    /// Whether a reader has asked for a piece.
    var isBegun: Bool { iterator != nil }

    func next() async throws -> [UInt8]? {
      var iterator = iterator ?? body.makeAsyncIterator()
      self.iterator = iterator
      let piece = try await iterator.next(isolation: self)
      self.iterator = iterator
      return piece.map { Array($0.readableBytesView) }
    }
  }

  /// A body that the application writes and that is read piece by piece. The application waits while pieces are unread.
  actor WrittenBody {
    /// The body; nil after the writing has begun or the body was taken.
    private var body: ResponseBody?
    /// The number of bytes that are still to come, if the response announces a length.
    private var left: Int?
    private var pieces: BodyPieces?
    private var writing: Task<Void, Never>?

    init(_ body: ResponseBody, length: Int?) {
      self.body = body
      left = length
    }

    deinit { writing?.cancel() }

    /// The unread body; nil if the reading has begun, or if the body was taken before.
    func take() -> ResponseBody? {
      defer { body = nil }
      return body
    }

    func next() async throws -> [UInt8]? {
      if let body = take() { begin(body) }
      let piece = try await pieces?.next()
      guard let left else { return piece }
      // A wrong length throws. Otherwise a client would wait for missing bytes, or take surplus bytes for the next response.
      guard let count = piece?.count ?? (left == 0 ? 0 : nil), count <= left else {
        throw HandlerFailure(
          error: LarderError(
            .failed, "the body of a response has another length than its Content-Length",
            hint: "write as many bytes as the response announces"))
      }
      self.left = left - count
      return piece
    }

    private func begin(_ body: ResponseBody) {
      let (stream, source) = RequestBody.makeStream()
      pieces = BodyPieces(stream)
      // Without this nil, the task would keep the exchange and so this body. `deinit` would then never cancel the task.
      writing = ApplicationExchange.$current.withValue(nil) {
        Task {
          do {
            try await body.write(StreamWriter(source: source))
            source.finish()
          } catch { source.finish(HandlerFailure(error: error)) }
        }
      }
    }
  }

  private struct StreamWriter: ResponseBodyWriter {
    let source: RequestBody.Source

    func write(_ buffer: ByteBuffer) async throws {
      try Task.checkCancellation()
      if buffer.readableBytes > 0 { await source.yield(buffer) }
    }

    /// Does nothing. An error after this call would still make the body invalid, so only the return of `write` ends the body.
    func finish(_ trailingHeaders: HTTPFields?) {}
  }

  /// Drops the bytes of a body that must be empty.
  struct DiscardingWriter: ResponseBodyWriter {
    func write(_ buffer: ByteBuffer) {}
    func finish(_ trailingHeaders: HTTPFields?) {}
  }

  extension ResponseBody {
    init(_ body: HTTPBody) {
      if let whole = body.whole {
        self.init(byteBuffer: ByteBuffer(bytes: whole))
        return
      }
      self.init(contentLength: body.count) { writer in
        for try await piece in body { try await writer.write(ByteBuffer(bytes: piece)) }
        try await writer.finish(nil)
      }
    }
  }
#endif
