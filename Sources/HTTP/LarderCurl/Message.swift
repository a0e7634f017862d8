#if Curl
  import HTTPTypes
  import LarderHTTP

  /// A request in the form that curl takes.
  struct Message: Sendable {
    let origin: String
    let url: String
    let method: String
    /// The lines of the head. No value has a NUL or the end of a line, because `HTTPField` refuses both.
    let lines: [[UInt8]]
    let body: [UInt8]
    /// Whether the request announces a body, which may be empty.
    let hasBody: Bool
    let isHead: Bool
    /// Whether the request must not be sent twice. Curl sends a request again when a kept connection ends without an answer.
    let hasEffect: Bool

    init(_ request: HTTPRequest, body: [UInt8]) throws {
      // A NUL would end curl's text early.
      guard let url = request.uri, url.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else {
        throw CurlError(.invalidRequest, "the address is not that of an HTTP URI")
      }
      self.url = url
      origin = (request.scheme ?? "").lowercased() + "://" + (request.authority ?? "")
      method = request.method.rawValue
      isHead = request.method == .head
      guard !isHead || body.isEmpty else {
        throw CurlError(.invalidRequest, "a HEAD request has no body")
      }
      self.body = body
      hasBody = !body.isEmpty || [.post, .put, .patch].contains(request.method)
      hasEffect = !body.isEmpty || ![.get, .head, .options, .trace].contains(request.method)
      try HTTPCacheError.check(fieldCount: request.headerFields.count)
      lines = Self.lines(of: request.headerFields)
    }

    /// The fields, and a name without a value for each field that curl would add by itself. A request without `Accept-Encoding`
    /// asks for a plain body.
    private static func lines(of fields: HTTPFields) -> [[UInt8]] {
      var lines = ["Expect:"]
      if !fields.contains(.accept) { lines.append("Accept:") }
      if !fields.contains(.contentType) { lines.append("Content-Type:") }
      // Nothing here decodes the response.
      if !fields.contains(.acceptEncoding) { lines.append("Accept-Encoding: identity") }
      return lines.map { Array($0.utf8) } + fields.compactMap(line)
    }

    private static func line(of field: HTTPField) -> [UInt8]? {
      // Curl itself describes the body, and sends it without waiting for a 100.
      if [.contentLength, .transferEncoding, .expect].contains(field.name) { return nil }
      let value = field.valueBytes
      let name = Array(field.name.rawName.utf8)
      // Curl marks an empty value with a semicolon.
      return value.isEmpty ? name + Array(";".utf8) : name + Array(": ".utf8) + value
    }
  }
#endif
