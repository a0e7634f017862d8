#if Curl
  import HTTPTypes
  import LarderHTTP

  /// A request in the form in which curl takes it.
  struct Message: Sendable {
    let origin: String
    let url: String
    let method: String
    /// Lines of the head. No value contains a NUL or the end of a line: `HTTPField` has none.
    let lines: [[UInt8]]
    let body: [UInt8]
    /// Whether the request announces a body, which may be empty.
    let hasBody: Bool
    let isHead: Bool
    /// Whether the request must not be sent a second time. Curl does that when a kept connection ends without an answer.
    let hasEffect: Bool

    init(_ request: HTTPRequest, body: [UInt8]) throws {
      // A NUL would end the text.
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
      let count = request.headerFields.count
      guard count <= HTTPCacheError.largestFieldCount else {
        throw HTTPCacheError.tooManyFields(count)
      }
      lines = Self.lines(of: request.headerFields)
    }

    /// The fields, and a name without a value for each field that curl would add by itself. Without another wish it asks for a
    /// plain body.
    private static func lines(of fields: HTTPFields) -> [[UInt8]] {
      var lines = ["Expect:"]
      if !fields.contains(.accept) { lines.append("Accept:") }
      if !fields.contains(.contentType) { lines.append("Content-Type:") }
      // Nothing decodes the response.
      if !fields.contains(.acceptEncoding) { lines.append("Accept-Encoding: identity") }
      return lines.map { Array($0.utf8) } + fields.compactMap(line)
    }

    private static func line(of field: HTTPField) -> [UInt8]? {
      // Curl describes the body, which is sent without waiting for leave.
      if [.contentLength, .transferEncoding, .expect].contains(field.name) { return nil }
      let value = field.valueBytes
      let name = Array(field.name.rawName.utf8)
      // Curl's form for an empty value has a semicolon.
      return value.isEmpty ? name + Array(";".utf8) : name + Array(": ".utf8) + value
    }
  }
#endif
