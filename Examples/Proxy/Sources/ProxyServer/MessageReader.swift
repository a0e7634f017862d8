import HTTPTypes
import NIOCore

/// What is wrong with a message.
enum MessageError: Error, Equatable {
  case malformed(String)
  /// The head has more than 1,000 fields.
  case tooManyFields
  /// The connection ended before the message did.
  case incomplete
}

/// Reads HTTP/1 messages from a connection, one after the other.
actor MessageReader {
  private static let longestHead = 1 << 18
  private let connection: Connection
  private var buffer = ByteBuffer()
  /// What is still to come of the body that is being read.
  private var framing = Framing.length(0)
  private var isInChunk = 0

  init(_ connection: Connection) { self.connection = connection }

  /// The next head; nil where the connection ends instead.
  func head(isLenient: Bool) async throws -> MessageHead? {
    var lines: [[UInt8]] = []
    var count = 0
    while let line = try await line() {
      count += line.count
      guard count < Self.longestHead else { throw MessageError.malformed("the head is too long") }
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
          // Trailers have no reader.
          while let line = try await line(), !line.isEmpty {}
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

  private func chunkSize() async throws -> Int {
    guard let line = try await line() else { throw MessageError.incomplete }
    let digits = String(decoding: line.prefix { $0 != 0x3B }.trimmed, as: UTF8.self)
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
      guard let more = try await connection.read() else { return nil }
      buffer = more
    }
    return buffer.readBytes(length: min(count, buffer.readableBytes))
  }

  /// The next line without its end; nil where there is none any more.
  private func line() async throws -> [UInt8]? {
    while true {
      if let end = buffer.readableBytesView.firstIndex(of: 0x0A) {
        var line = buffer.readBytes(length: end - buffer.readerIndex) ?? []
        buffer.moveReaderIndex(forwardBy: 1)
        if line.last == 0x0D { line.removeLast() }
        return line
      }
      guard buffer.readableBytes < Self.longestHead else {
        throw MessageError.malformed("a line is too long")
      }
      guard var more = try await connection.read() else { return nil }
      buffer.writeBuffer(&more)
    }
  }
}
