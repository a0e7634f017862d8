#if Curl
  import HTTPTypes
  import LarderHTTP

  /// A request in the form that curl takes.
  struct Message: Sendable {
    let origin: String
    let url: String
    let method: String
    /// The lines of the head. No value contains a NUL or a line break, because `HTTPField` refuses both.
    let lines: [[UInt8]]
    let body: [UInt8]
    /// Whether the request announces a body, which may be empty.
    let hasBody: Bool
    let isHead: Bool
    /// Whether the request must not be sent twice, and so needs a new connection: curl may repeat it on a kept connection.
    let hasEffect: Bool

    init(_ request: HTTPRequest, body: [UInt8]) throws {
      // Curl takes the address as a C string, so a NUL would cut the address off.
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
      lines = Self.lines(of: request.headerFields.withOneCookie)
    }

    /// The lines of the request's fields. A line with only a name stops curl from adding a field with this name.
    private static func lines(of fields: HTTPFields) -> [[UInt8]] {
      var lines = ["Expect:"]
      if !fields.contains(.accept) { lines.append("Accept:") }
      if !fields.contains(.contentType) { lines.append("Content-Type:") }
      // This transport decodes no response, so the request asks for a plain body.
      if !fields.contains(.acceptEncoding) { lines.append("Accept-Encoding: identity") }
      return lines.map { Array($0.utf8) } + fields.compactMap(line)
    }

    private static func line(of field: HTTPField) -> [UInt8]? {
      // These fields are omitted: curl adds the length of the body, and an empty `Expect` prevents the wait for the status 100.
      if [.contentLength, .transferEncoding, .expect].contains(field.name) { return nil }
      let value = field.valueBytes
      let name = Array(field.name.rawName.utf8)
      // For curl, `Name;` is a field with an empty value, but `Name:` removes the field.
      return value.isEmpty ? name + Array(";".utf8) : name + Array(": ".utf8) + value
    }
  }
#endif
