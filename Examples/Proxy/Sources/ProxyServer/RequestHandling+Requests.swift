import HTTPTypes
import LarderHTTP

extension RequestHandling {
  /// The request to the origin with a head; nil for a head that is no request.
  ///
  /// - Throws: ``MessageError/unknownVersion`` for a major version other than 1.
  static func request(
    _ head: MessageHead, for origin: Address
  ) throws(MessageError) -> (HTTPRequest, isHTTP11: Bool)? {
    let words = head.start.split(separator: " ", omittingEmptySubsequences: false)
    guard words.count == 3, isVersion(words[2]) else { return nil }
    // A later minor version of HTTP/1 is read as HTTP/1.1 (RFC 9110, section 2.5).
    guard words[2].hasPrefix("HTTP/1.") else { throw .unknownVersion }
    guard let method = HTTPRequest.Method(String(words[0])),
      hasHost(head.fields, isOptional: words[2] == "HTTP/1.0"),
      // RFC 9112, 6.1: an HTTP/1.0 request with a transfer coding has a faulty framing, so it is refused.
      words[2] != "HTTP/1.0" || !head.fields.contains(.transferEncoding),
      let target = target(words[1], of: method)
    else { return nil }
    var fields = head.fields.endToEnd
    fields[OriginTransport.host] = nil
    if let left = Self.forwardsLeft(head.fields, of: method), left > 0 {
      fields[Self.maxForwards] = String(left - 1)
    }
    fields.append(HTTPField(name: .via, value: "\(words[2].dropFirst(5)) larder"))
    let request = HTTPRequest(
      method: method, scheme: "http", authority: origin.description, path: target,
      headerFields: fields)
    return (request, words[2] != "HTTP/1.0")
  }

  /// Whether the text is `HTTP/`, a digit, a dot and a digit (RFC 9112, section 2.3).
  private static func isVersion(_ text: Substring) -> Bool {
    text.utf8.count == 8
      && zip(text.utf8, "HTTP/0.0".utf8).allSatisfy { byte, form in
        form == 0x30 ? (0x30...0x39).contains(byte) : byte == form
      }
  }

  /// Whether a request names one host in the form of an authority (RFC 9112, 3.2). If `isOptional`, it may also name none.
  private static func hasHost(_ fields: HTTPFields, isOptional: Bool) -> Bool {
    let hosts = fields[values: OriginTransport.host]
    guard hosts.count == 1 else { return hosts.isEmpty && isOptional }
    return hosts[0].utf8.allSatisfy { byte in
      switch byte {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
      default: "-._~%!$&'()*+;=:[]".utf8.contains(byte)
      }
    }
  }

  /// The target in origin form (RFC 9112, section 3.2); nil for a target that this proxy does not serve.
  private static func target(_ text: Substring, of method: HTTPRequest.Method) -> String? {
    guard !text.utf8.contains(where: { $0 < 0x21 || $0 == 0x7F }) else { return nil }
    if text.hasPrefix("/") { return method == .connect ? nil : String(text) }
    if text == "*" { return method == .options ? "*" : nil }
    // A client that is set to use this server as its proxy sends the whole URL.
    guard text.lowercased().hasPrefix("http://"), method != .connect else { return nil }
    let rest = text.dropFirst("http://".count)
    let authority = rest.prefix { !"/?#".contains($0) }
    guard !authority.isEmpty else { return nil }
    let path = rest[authority.endIndex...]
    // An OPTIONS without a path and a query is for the whole server (RFC 9112, section 3.2.4).
    if path.isEmpty, method == .options { return "*" }
    return path.hasPrefix("/") ? String(path) : "/" + path
  }

  private static let maxForwards = HTTPField.Name("Max-Forwards")!

  /// How many more servers may get the request (RFC 9110, section 7.6.2); nil without a limit.
  static func forwardsLeft(_ fields: HTTPFields, of method: HTTPRequest.Method) -> Int? {
    guard method == .options || method == .trace, let value = fields[maxForwards],
      value.utf8.allSatisfy({ (0x30...0x39).contains($0) })
    else { return nil }
    return Int(value)
  }

  static func wantsClose(_ fields: HTTPFields) -> Bool {
    fields[values: .connection].contains { $0.lowercased().contains("close") }
  }
}
