import HTTPTypes
import NIOCore

/// Takes messages from the bytes of a connection, without waits.
struct MessageParser {
  /// The limit on the bytes of a head, and on the bytes of the trailers of a body.
  static let longestHead = 1 << 16
  /// The longest line with the size of a chunk and its extensions. Extensions are dropped, so without a limit a client could
  /// send any number of bytes for each byte of a body.
  private static let longestChunkLine = 4096

  /// The next part of a body in chunks.
  private enum Place {
    case size
    case chunk(Int)
    case end
    case trailers(Int)
  }

  /// Whether bytes that servers read in different ways are refused: true for a client. An origin's bytes are read leniently.
  let isStrict: Bool
  private var buffer = ByteBuffer()
  /// The number of bytes of `buffer` that were searched without finding an end.
  private var searched = 0
  /// The number of bytes of the empty lines before a head.
  private var skipped = 0
  /// The rest of the body that is being read.
  private var framing = Framing.length(0)
  private var place = Place.size

  init(isStrict: Bool) { self.isStrict = isStrict }

  var isEmpty: Bool { buffer.readableBytes == 0 }
  /// Whether the body has been read to its end.
  var isAtEnd: Bool { framing == .length(0) }
  /// Whether the end of the connection ends the body.
  var endsWithConnection: Bool { framing == .untilClose }

  mutating func append(_ bytes: ByteBuffer) {
    if isEmpty {
      buffer = bytes
    } else {
      // Without this call, the buffer of a connection that stays open would grow with each request.
      buffer.discardReadBytes()
      buffer.writeImmutableBuffer(bytes)
    }
  }

  /// Begins a body with this framing, for ``piece()``.
  mutating func begin(_ framing: Framing) {
    self.framing = framing
    place = .size
  }

  /// The next head; nil if it is not complete yet.
  ///
  /// - Parameter isLenient: whether lines that are no fields are omitted.
  mutating func head(isLenient: Bool) throws(MessageError) -> MessageHead? {
    skipEmptyLines()
    let end = endOfHead()
    guard skipped + (end ?? buffer.readableBytes) < Self.longestHead else {
      throw hasLongStart ? .targetTooLong : .tooManyFields
    }
    guard let end, let bytes = buffer.readBytes(length: end) else { return nil }
    searched = 0
    skipped = 0
    guard let head = try MessageHead(bytes, isLenient: isLenient) else {
      throw .malformed("a line of the head is no field")
    }
    return head
  }

  /// Whether a head is too long because of its first line, and not because of fields or empty lines.
  private var hasLongStart: Bool {
    let view = buffer.readableBytesView
    return view.count > skipped && !view.prefix(Self.longestHead).contains(0x0A)
  }

  /// Skips empty lines, because a server ignores empty lines before a request (RFC 9112, 2.2).
  private mutating func skipEmptyLines() {
    while searched == 0 {
      let view = buffer.readableBytesView
      let count = view.first == 0x0A ? 1 : view.starts(with: [0x0D, 0x0A]) ? 2 : 0
      if count == 0 { return }
      buffer.moveReaderIndex(forwardBy: count)
      skipped += count
    }
  }

  /// The number of bytes of the head, with the empty line at its end; nil if the head is not complete yet.
  private mutating func endOfHead() -> Int? {
    let view = buffer.readableBytesView
    while let end = view[(view.startIndex + searched)...].firstIndex(of: 0x0A) {
      let rest = view[(end + 1)...]
      let offset = end - view.startIndex
      if rest.first == 0x0A { return offset + 2 }
      if rest.starts(with: [0x0D, 0x0A]) { return offset + 3 }
      searched = offset
      // Only the next bytes show whether this line is the last line of the head, so the parser waits for them.
      if rest.isEmpty || rest.count == 1 && rest.first == 0x0D { return nil }
      searched = offset + 1
    }
    searched = view.count
    return nil
  }

  /// The result of a step while a body is read.
  enum Step {
    /// The next bytes; nil at the end.
    case piece([UInt8]?)
    /// The parser needs more bytes first.
    case wait
  }

  /// The next bytes of the body.
  mutating func piece() throws(MessageError) -> Step {
    while true {
      switch framing {
      case .length(0): return .piece(nil)
      case .length(let count):
        guard let bytes = take(upTo: count) else { return .wait }
        framing = .length(count - bytes.count)
        return .piece(bytes)
      case .untilClose: return take(upTo: .max).map { .piece($0) } ?? .wait
      case .chunked:
        if let step = try chunkedStep() { return step }
      }
    }
  }

  /// Takes one step in a body in chunks. If the result is nil, the step has read no bytes of the body: call again.
  private mutating func chunkedStep() throws(MessageError) -> Step? {
    if case .chunk(let count) = place {
      guard let bytes = take(upTo: count) else { return .wait }
      place = bytes.count == count ? .end : .chunk(count - bytes.count)
      return .piece(bytes)
    }
    let next = try line()
    // If the end of the line has not come yet, the last byte may be its CR.
    let length = next?.count ?? buffer.readableBytes - 1
    if case .size = place, length > Self.longestChunkLine {
      throw .malformed("the extensions of a chunk are too long")
    }
    guard length < Self.longestHead else { throw .tooManyFields }
    guard let line = next else { return .wait }
    switch place {
    case .size:
      let size = try chunkSize(line)
      place = size == 0 ? .trailers(0) : .chunk(size)
    case .end:
      guard line.isEmpty else { throw .malformed("a chunk does not end where it says") }
      place = .size
    case .trailers(let count):
      // Trailers are dropped, because nothing reads them.
      if line.isEmpty { framing = .length(0) }
      guard count + line.count + 2 < Self.longestHead else { throw .tooManyFields }
      place = .trailers(count + line.count + 2)
    case .chunk: break
    }
    return nil
  }

  private func chunkSize(_ line: [UInt8]) throws(MessageError) -> Int {
    let size = line.prefix { $0 != 0x3B }
    // A space is allowed only before an extension (RFC 9112, section 7.1.1). From origins, other spaces are accepted, too.
    let isPadded = !isStrict || size.count < line.count
    let digits = String(decoding: isPadded ? size.trimmed : size, as: UTF8.self)
    guard !digits.isEmpty, digits.utf8.count <= 15,
      digits.utf8.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }),
      let size = Int(digits, radix: 16)
    else { throw .malformed("\"\(digits)\" is no size of a chunk") }
    return size
  }

  private mutating func take(upTo count: Int) -> [UInt8]? {
    isEmpty ? nil : buffer.readBytes(length: min(count, buffer.readableBytes))
  }

  /// The next line of a body, without its line break; nil if the line is not complete yet.
  private mutating func line() throws(MessageError) -> [UInt8]? {
    let view = buffer.readableBytesView
    guard let end = view[(view.startIndex + searched)...].firstIndex(of: 0x0A) else {
      searched = view.count
      return nil
    }
    var line = buffer.readBytes(length: end - buffer.readerIndex) ?? []
    buffer.moveReaderIndex(forwardBy: 1)
    searched = 0
    if line.last == 0x0D {
      line.removeLast()
    } else if isStrict {
      // A server in front of this server may see the end of the line at another place, so the body is refused.
      throw .malformed("a line of a chunked body ends without CR")
    }
    return line
  }
}
