import HTTPTypes
import NIOCore
import Testing

@testable import ProxyServer

/// Messages whose bytes arrive in pieces of any size.
@Suite struct ParserTests {
  private static let message = """
    \r\nPOST /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nX:  two words \r\n\r\n\
    5;name=value\r\nhello\r\n10\r\n0123456789abcdef\r\n0\r\nTrailer: t\r\n\r\n\
    PUT /b HTTP/1.1\r\nHost: h\r\nContent-Length: 11\r\n\r\nhello\r\nyou\n\
    GET /c HTTP/1.1\nHost: h\n\n
    """

  /// The parser's results for bytes that arrive in pieces of these lengths.
  private func read(_ bytes: [UInt8], in lengths: () -> Int) throws -> [String] {
    var parser = MessageParser(isStrict: true)
    var found: [String] = []
    var body: String?
    var rest = bytes[...]
    while true {
      if let text = body {
        switch try parser.piece() {
        case .piece(let piece?):
          body = text + String(decoding: piece, as: UTF8.self)
          continue
        case .piece(nil):
          found.append(text)
          body = nil
          continue
        case .wait: break
        }
      } else if let head = try parser.head(isLenient: false) {
        found.append(head.start + head.fields.map { "|\($0.name)=\($0.value)" }.joined())
        parser.begin(try #require(Framing(ofRequest: head.fields)))
        body = ""
        continue
      }
      if rest.isEmpty { break }
      parser.append(ByteBuffer(bytes: rest.prefix(lengths())))
      rest = rest.dropFirst(min(lengths(), rest.count))
    }
    #expect(parser.isEmpty && parser.isAtEnd)
    return found
  }

  @Test func `the pieces in which a message comes make no difference`() throws {
    let bytes = Array(Self.message.utf8)
    let expected = [
      "POST /a HTTP/1.1|Host=h|Transfer-Encoding=chunked|X=two words", "hello0123456789abcdef",
      "PUT /b HTTP/1.1|Host=h|Content-Length=11", "hello\r\nyou\n",
      "GET /c HTTP/1.1|Host=h", "",
    ]
    for length in 1...bytes.count {
      #expect(try read(bytes) { length } == expected, "\(length) bytes at a time")
    }
  }

  @Test func `a head that is too long is refused before its end has come`() throws {
    for (start, filling, expected) in [
      ("GET / HTTP/1.1\r\n", "X: y\r\n", MessageError.tooManyFields),
      ("GET / HTTP/1.1\r\n", "x", .tooManyFields), ("", "\r\n", .tooManyFields),
      ("GET /", "x", .targetTooLong), ("\r\nGET /", "x", .targetTooLong),
    ] {
      var parser = MessageParser(isStrict: true)
      parser.append(ByteBuffer(string: start))
      let error = #expect(throws: MessageError.self) {
        for _ in 0..<MessageParser.longestHead {
          parser.append(ByteBuffer(string: filling))
          let head = try parser.head(isLenient: false)
          #expect(head == nil)
        }
      }
      #expect(error == expected, "\(start) and \(filling)")
    }
  }

  /// A number behind a `;` is the length of an extension.
  @Test(arguments: [
    "5\r\nhello!\r\n", "5\nhello\r\n", "x\r\n", "5 \r\nhello\r\n", "5;4096", "5;70000",
  ])
  func `chunks of a client must follow the grammar`(body: String) throws {
    let extensionLength = body.split(separator: ";").dropFirst().first.flatMap { Int($0) } ?? 0
    var parser = MessageParser(isStrict: true)
    parser.append(ByteBuffer(string: body + String(repeating: "x", count: extensionLength)))
    parser.begin(.chunked)
    let error = #expect(throws: MessageError.self) {
      while case .piece(_?) = try parser.piece() {}
    }
    if case .malformed = error { return }
    Issue.record("\(String(describing: error))")
  }
}
