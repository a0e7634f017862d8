#if HTTP
  import Foundation
  import HTTPTypes
  import LarderHTTP

  #if canImport(FoundationNetworking)
    import FoundationNetworking
  #endif

  // Conversions of requests and responses between the types of Foundation and the types of `HTTPTypes`.

  extension URLRequest {
    /// - Parameter isPlain: whether the answer must have no content coding.
    init(_ request: HTTPRequest, body: [UInt8], isPlain: Bool) throws {
      guard let url = request.strictURI.flatMap({ URL(string: $0) }) else {
        throw URLError(.badURL)
      }
      self.init(url: url, cachePolicy: .reloadIgnoringLocalCacheData)
      httpMethod = request.method.rawValue
      for field in request.headerFields.withOneCookie {
        addValue(field.value, forHTTPHeaderField: field.name.rawName)
      }
      if isPlain { setValue("identity", forHTTPHeaderField: "Accept-Encoding") }
      if !body.isEmpty { httpBody = Data(body) }
    }

    /// The cache, with the time limit of this request if that limit is shorter than the limit of the cache.
    func limiting(_ cache: HTTPCache) -> HTTPCache {
      // A limit of 1e9 s or more may not fit a `Duration`, and is longer than the limit of any policy.
      guard timeoutInterval > 0, timeoutInterval < 1e9,
        case let limit = Duration.seconds(timeoutInterval), limit < cache.rules.policy.timeout
      else { return cache }
      return cache.with { $0.timeout = limit }
    }

    func body(upTo limit: Int) throws -> [UInt8] {
      if let httpBody { return Array(httpBody) }
      return try httpBodyStream?.bytes(upTo: limit) ?? []
    }

    /// The directives for the cache policy of the request (RFC 9111, section 5.2.1); nil for the usual policy.
    fileprivate var cacheControl: String? {
      switch cachePolicy {
      case .reloadIgnoringLocalCacheData, .reloadIgnoringLocalAndRemoteCacheData,
        .reloadRevalidatingCacheData:
        "no-cache"
      case .returnCacheDataElseLoad: "max-stale"
      case .returnCacheDataDontLoad: "only-if-cached, max-stale"
      default: nil
      }
    }
  }

  extension InputStream {
    fileprivate func bytes(upTo limit: Int) throws -> [UInt8] {
      open()
      defer { close() }
      var bytes: [UInt8] = []
      var piece = [UInt8](repeating: 0, count: 1 << 16)
      while true {
        // The call is unsafe, but Foundation has no other way to read a stream.
        let count = unsafe read(&piece, maxLength: piece.count)
        if count < 0 { throw streamError ?? URLError(.requestBodyStreamExhausted) }
        if count == 0 { return bytes }
        guard bytes.count + count <= limit else { throw URLError(.dataLengthExceedsMaximum) }
        bytes += piece.prefix(count)
      }
    }
  }

  extension HTTPRequest {
    init(_ request: URLRequest) throws {
      guard let url = request.url, let method = Method(request.httpMethod ?? "GET") else {
        throw URLError(.badURL)
      }
      self.init(method: method, scheme: nil, authority: nil, path: nil)
      try setTarget(url)
      let fields = request.allHTTPHeaderFields ?? [:]
      try HTTPCacheError.check(fieldCount: fields.count)
      // The first of several `max-stale` counts.
      if let directive = request.cacheControl { headerFields[.cacheControl] = directive }
      for (name, value) in fields {
        guard let name = HTTPField.Name(name) else { throw URLError(.badURL) }
        // A session decodes no body of a protocol. So the transport alone chooses a coding, which the transport then decodes.
        if name == .acceptEncoding, value.lowercased() != "identity" { continue }
        headerFields.append(HTTPField(name: name, lenientValue: Array(value.utf8)))
      }
    }

    mutating func setTarget(_ url: URL) throws {
      let text = url.absoluteString
      guard let scheme = url.scheme?.lowercased(), let start = text.firstRange(of: "://") else {
        throw URLError(.badURL)
      }
      let rest = text[start.upperBound...]
      let authority = rest.prefix { !"/?#".contains($0) }
      guard !authority.isEmpty else { throw URLError(.badURL) }
      let path = rest[authority.endIndex...].prefix { $0 != "#" }
      self.scheme = scheme
      self.authority = String(authority)
      self.path = path.hasPrefix("/") ? String(path) : "/" + path
    }
  }

  extension HTTPFields {
    init(foundation fields: [AnyHashable: Any]) {
      self.init()
      for (name, value) in fields {
        guard let name = (name as? String).flatMap({ HTTPField.Name($0) }),
          let value = value as? String
        else { continue }
        append(HTTPField(name: name, lenientValue: Array(value.utf8)))
      }
    }
  }

  extension HTTPResponse {
    init(_ answer: HTTPURLResponse) {
      self.init(
        status: .init(code: answer.statusCode),
        headerFields: HTTPFields(foundation: answer.allHeaderFields))
      // `URLSession` has decoded the body, so these fields no longer describe it.
      if answer.isCoded {
        headerFields[.contentEncoding] = nil
        headerFields[.contentLength] = nil
      }
    }
  }

  extension HTTPURLResponse {
    #if canImport(FoundationNetworking)
      private static let codings = ["gzip", "x-gzip", "deflate", "br", "zstd"]
    #else
      private static let codings = ["gzip", "x-gzip", "deflate", "br"]
    #endif

    var isCoded: Bool {
      value(forHTTPHeaderField: "Content-Encoding").map { Self.codings.contains($0.lowercased()) }
        ?? false
    }

    /// Whether `URLSession` can find out that the body is cut off: the body has a length or comes in chunks.
    var hasKnownEnd: Bool {
      ["Content-Length", "Transfer-Encoding"].contains { value(forHTTPHeaderField: $0) != nil }
    }

    convenience init?(_ response: HTTPResponse, url: URL) {
      let fields = Dictionary(
        response.headerFields.map { ($0.name.rawName, $0.value) },
        uniquingKeysWith: { $0 + ", " + $1 })
      self.init(
        url: url, statusCode: response.status.code, httpVersion: "HTTP/1.1", headerFields: fields)
    }
  }
#endif
