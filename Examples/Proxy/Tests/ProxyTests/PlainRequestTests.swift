import HTTPTypes
import LarderHTTP
import NIOCore
import Testing

@testable import ProxyServer

/// ``PlainRequests`` and the parser must read a plain request (a GET without a body or special fields) in the same way.
@Suite struct PlainRequestTests {
  private let requests = PlainRequests(besides: HTTPRules().decisiveFields)

  private func target(_ text: String) -> String? {
    let bytes = Array(text.utf8)
    return requests.target(of: bytes.span).map { String(decoding: bytes[$0], as: UTF8.self) }
  }

  @Test func `plain requests are recognized`() {
    #expect(target("GET / HTTP/1.1\r\nHost: x\r\n\r\n") == "/")
    #expect(
      target(
        "GET /a/b?c=%20d&e=~ HTTP/1.1\r\nhost:\tx.example:8080 \r\nAccept: */*\r\nX-Empty:\r\n"
          + "Connection:  Keep-Alive\r\nAccept-Encoding: gzip, br\r\n\r\n") == "/a/b?c=%20d&e=~")
  }

  @Test(arguments: [
    "GET /a HTTP/1.0\r\nHost: x\r\n\r\n", "GET /a HTTP/1.1\r\n\r\n",
    "GET /a HTTP/1.1\nHost: x\n\n", "GET /a HTTP/1.1\r\nHost: x\r\n", "GET /a HTTP/1.1\r\nHost: x",
    "GET /a HTTP/1.1\r\nHost: x\r\nHost: x\r\n\r\n", "GET /a HTTP/1.1\r\nHost: x y\r\n\r\n",
    "GET /a HTTP/1.1\r\nHost: x\r\n\r\nG", "HEAD /a HTTP/1.1\r\nHost: x\r\n\r\n",
    "GET /a b HTTP/1.1\r\nHost: x\r\n\r\n", "GET /a#b HTTP/1.1\r\nHost: x\r\n\r\n",
    "GET  /a HTTP/1.1\r\nHost: x\r\n\r\n", "GET http://x/a HTTP/1.1\r\nHost: x\r\n\r\n",
    "GET /\u{E4} HTTP/1.1\r\nHost: x\r\n\r\n", "GET /a HTTP/1.1\r\nHost: x\r\nX: \u{E4}\r\n\r\n",
    "GET /a HTTP/1.1\r\nHost: x\r\n folded\r\n\r\n", "GET /a HTTP/1.1\r\nHost : x\r\n\r\n",
    "GET /a HTTP/1.1\r\nHost: x\r\nX: a\rb\r\n\r\n", "GET /a HTTP/1.1\r\nHost: x\r\nX: a\0\r\n\r\n",
    "GET /a HTTP/1.1\r\nHost: x\r\nX\r\n\r\n", "GET /a HTTP/1.1\r\nHost: x\r\n: a\r\n\r\n",
    "\r\nGET /a HTTP/1.1\r\nHost: x\r\n\r\n", "",
  ])
  func `other requests are left to the parser`(text: String) {
    #expect(target(text) == nil)
  }

  @Test(arguments: [
    "Content-Length: 0", "TRANSFER-ENCODING: chunked", "Expect: 100-continue", "Connection: close",
    "connection: keep-alive, x", "Authorization: Basic YQ==", "Cache-Control: max-age=1",
    "Pragma: no-cache", "Range: bytes=0-1", "If-Range: \"1\"", "If-Match: *",
    "if-none-match: \"1\"", "If-Modified-Since: Thu, 01 Jan 2026 00:00:00 GMT",
    "If-Unmodified-Since: Thu, 01 Jan 2026 00:00:00 GMT",
  ])
  func `decisive fields are left to the parser`(field: String) {
    #expect(target("GET /a HTTP/1.1\r\nHost: x\r\n\(field)\r\n\r\n") == nil)
    #expect(target("GET /a HTTP/1.1\r\n\(field)\r\nHost: x\r\n\r\n") == nil)
  }

  @Test func `partition fields are decisive`() {
    var policy = HTTPCachePolicy()
    policy.partitionFields = [.cookie]
    let requests = PlainRequests(besides: HTTPRules(policy: policy).decisiveFields)
    let bytes = Array("GET /a HTTP/1.1\r\nHost: x\r\ncookie: a=b\r\n\r\n".utf8)
    #expect(requests.target(of: bytes.span) == nil && self.requests.target(of: bytes.span) != nil)
  }

  @Test func `many fields and long heads are left to the parser`() {
    let field = "X-Y: z\r\n"
    let start = "GET /a HTTP/1.1\r\nHost: x\r\n"
    #expect(target(start + String(repeating: field, count: 99) + "\r\n") == "/a")
    #expect(target(start + String(repeating: field, count: 100) + "\r\n") == nil)
    #expect(target(start + "X: " + String(repeating: "y", count: 8_200) + "\r\n\r\n") == nil)
  }

  /// The parser must read each plain request as a GET of the same target, without a body and without bytes left over.
  @Test func `changed bytes are read alike or left to the parser`() throws {
    let heads = [
      "GET /a?b=c HTTP/1.1\r\nHost: x\r\nAccept: */*\r\nConnection: keep-alive\r\n\r\n",
      "GET / HTTP/1.1\r\nUser-Agent: a b\r\nhost: [::1]:80\r\nRange: bytes=0-1\r\nX:\r\n\r\n",
      "GET /%41 HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nExpect: x\r\n\r\n",
    ].map { Array($0.utf8) }
    let pool = Array("\r\n\0\t :#%/aG1\u{7F}".utf8) + [0x80, 0xFF]
    var generator = SystemRandomNumberGenerator()
    var count = 0
    for round in 0..<60_000 {
      var bytes = heads[round % heads.count]
      for _ in 0..<Int.random(in: 1...3, using: &generator) {
        let index = Int.random(in: 0..<bytes.count, using: &generator)
        switch Int.random(in: 0..<3, using: &generator) {
        case 0: bytes[index] = pool.randomElement(using: &generator) ?? 0
        case 1: bytes.insert(pool.randomElement(using: &generator) ?? 0, at: index)
        default: bytes.remove(at: index)
        }
      }
      guard let range = requests.target(of: bytes.span) else { continue }
      count += 1
      var parser = MessageParser(isStrict: true)
      parser.append(.init(bytes: bytes))
      let head = try #require(try parser.head(isLenient: false), "\(bytes)")
      let origin = Address(host: "x", port: 80)
      let (request, isHTTP11) = try #require(
        try RequestHandling.request(head, for: origin), "\(bytes)")
      #expect(isHTTP11 && request.method == .get && parser.isEmpty, "\(bytes)")
      #expect(request.path == String(decoding: bytes[range], as: UTF8.self), "\(bytes)")
      #expect(Framing(ofRequest: head.fields) == .length(0), "\(bytes)")
      #expect(request.withEncodedTarget == request, "\(bytes)")
      #expect(
        !request.headerFields.contains { HTTPRules().decisiveFields.contains($0.name) }, "\(bytes)")
    }
    #expect(count > 100)
  }
}
