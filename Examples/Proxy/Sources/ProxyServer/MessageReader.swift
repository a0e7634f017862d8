import HTTPTypes
import NIOCore

/// What is wrong with a message.
enum MessageError: Error, Equatable {
  case malformed(String)
  /// A head has more than 1,000 fields or 64 KB, or so have the trailers of a body.
  case tooManyFields
  /// The connection ended before the message did.
  case incomplete
  /// The client took too long.
  case timedOut
}

/// Reads HTTP/1 messages from a connection, one after the other.
actor MessageReader {
  /// Bytes of a head, and of the trailers of a body.
  static let longestHead = 1 << 16
  private let connection: Connection
  private var buffer = ByteBuffer()
  /// Whether any byte has come.
  private(set) var hasBegun = false
  /// Bytes of `buffer` that hold no end of a line.
  private var searched = 0
  /// What is still to come of the body that is being read.
  private var framing = Framing.length(0)
  private var isInChunk = 0

  /// What a client is granted; nil for an origin, whose time is limited elsewhere.
  private let limits: ProxyLimits?

  init(_ connection: Connection, limits: ProxyLimits? = nil) {
    self.connection = connection
    self.limits = limits
  }

  /// The next head; nil where the connection ends instead.
  ///
  /// - Parameters:
  ///   - isLenient: whether lines that are no fields are left out, as an origin's are.
  ///   - isFirst: whether the connection is new, so that it counts as slow rather than idle.
  func head(isLenient: Bool, isFirst: Bool = false) async throws -> MessageHead? {
    defer { connection.deadline.clear(.send) }
    if let limits {
      connection.deadline.begin(isFirst ? limits.head : limits.idle, to: .send)
      if buffer.readableBytes == 0 {
        guard let bytes = try await read() else { return nil }
        buffer = bytes
        searched = 0
      }
      connection.deadline.begin(limits.head, to: .send)
    }
    var lines: [[UInt8]] = []
    var count = 0
    while let line = try await line() {
      count += line.count + 2
      guard count < Self.longestHead else { throw MessageError.tooManyFields }
      if !line.isEmpty {
        lines.append(line)
      } else if !lines.isEmpty {
        guard let head = try MessageHead(lines, isLenient: isLenient) else {
          throw MessageError.malformed("a line of the head is no field")
        }
        return head
      }
    }
    if lines.isEmpty, buffer.readableBytes == 0 { return nil }
    throw MessageError.incomplete
  }

  /// From now on ``piece()`` reads a body that ends so.
  func begin(_ framing: Framing) {
    self.framing = framing
    isInChunk = 0
  }

  /// The next bytes of the body; nil at its end.
  func piece() async throws -> [UInt8]? {
    if let limits { connection.deadline.begin(limits.body, to: .send) }
    defer { connection.deadline.clear(.send) }
    switch framing {
    case .length(0): return nil
    case .length(let count):
      guard let bytes = try await take(upTo: count) else { throw MessageError.incomplete }
      framing = .length(count - bytes.count)
      return bytes
    case .untilClose:
      return try await take(upTo: .max)
    case .chunked:
      if isInChunk == 0 {
        isInChunk = try await chunkSize()
        if isInChunk == 0 {
          try await skipTrailers()
          framing = .length(0)
          return nil
        }
      }
      guard let bytes = try await take(upTo: isInChunk) else { throw MessageError.incomplete }
      isInChunk -= bytes.count
      if isInChunk == 0, try await line()?.isEmpty != true {
        throw MessageError.malformed("a chunk does not end where it says")
      }
      return bytes
    }
  }

  private func read() async throws -> ByteBuffer? {
    let bytes = try await connection.read()
    if bytes != nil { hasBegun = true }
    return bytes
  }

  /// Whether nothing of another head has come.
  var isIdle: Bool { buffer.readableBytes == 0 }

  /// Whether the body that is being read has come to its end.
  var isAtEnd: Bool { framing == .length(0) }

  /// Trailers have no reader.
  private func skipTrailers() async throws {
    var count = 0
    while true {
      guard let line = try await line() else { throw MessageError.incomplete }
      if line.isEmpty { return }
      count += line.count + 2
      guard count < Self.longestHead else { throw MessageError.tooManyFields }
    }
  }

  /// The longest line with the size of a chunk and its extensions, which are left out. Without a limit a client could send
  /// any number of bytes for each byte of a body.
  private static let longestChunkLine = 4096

  private func chunkSize() async throws -> Int {
    guard let line = try await line() else { throw MessageError.incomplete }
    guard line.count <= Self.longestChunkLine else {
      throw MessageError.malformed("the extensions of a chunk are too long")
    }
    let size = line.prefix { $0 != 0x3B }
    // A space is allowed before an extension alone (RFC 9112, section 7.1.1). Origins send one elsewhere, too.
    let isPadded = limits == nil || size.count < line.count
    let digits = String(decoding: isPadded ? size.trimmed : Array(size), as: UTF8.self)
    guard !digits.isEmpty, digits.utf8.count <= 15,
      digits.utf8.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }),
      let size = Int(digits, radix: 16)
    else {
      throw MessageError.malformed("\"\(digits)\" is no size of a chunk")
    }
    return size
  }

  private func take(upTo count: Int) async throws -> [UInt8]? {
    while buffer.readableBytes == 0 {
      guard let more = try await read() else { return nil }
      buffer = more
      searched = 0
    }
    searched = 0
    return buffer.readBytes(length: min(count, buffer.readableBytes))
  }

  /// The next line without its end; nil where there is none any more.
  private func line() async throws -> [UInt8]? {
    while true {
      let view = buffer.readableBytesView
      if let end = view[(view.startIndex + searched)...].firstIndex(of: 0x0A) {
        var line = buffer.readBytes(length: end - buffer.readerIndex) ?? []
        buffer.moveReaderIndex(forwardBy: 1)
        searched = 0
        if line.last == 0x0D {
          line.removeLast()
        } else if limits != nil, framing == .chunked {
          // Others in front of this server may see the end of such a line elsewhere.
          throw MessageError.malformed("a line of a chunked body ends without CR")
        }
        return line
      }
      searched = view.count
      guard buffer.readableBytes < Self.longestHead else { throw MessageError.tooManyFields }
      guard var more = try await read() else { return nil }
      if buffer.readableBytes == 0 {
        buffer = more
      } else {
        // Without this the buffer of a connection that stays open would grow with each request.
        buffer.discardReadBytes()
        buffer.writeBuffer(&more)
      }
    }
  }
}
