#if HTTP
  public import HTTPTypes
  import Larder
  import LarderSystem

  extension HTTPRequest {
    /// The path and the query. Without a path, the target is `/`.
    var target: String { path.flatMap { $0.isEmpty ? nil : $0 } ?? "/" }

    /// The request with a target that HTTP/1.1 can send and that is unambiguous in a key.
    ///
    /// Bytes that a URI does not allow (spaces, controls, DEL, quotes, bytes beyond ASCII) are percent-encoded. The fragment is
    /// removed, because a client never sends a fragment (RFC 9110, section 4.2.5; RFC 3986, section 2.1).
    public var withEncodedTarget: HTTPRequest {
      guard let path, !RequestTarget.isEncoded(path) else { return self }
      var request = self
      request.path = RequestTarget.encoded(path)
      return request
    }

    /// The request with an encoded target, if scheme, authority and path are the parts of one URI.
    ///
    /// Throws `LarderError/Code/invalidArgument` for other parts, which could name another host, and give two hosts one key.
    func withCheckedTarget() throws(LarderError) -> HTTPRequest {
      switch RequestTarget.fault(in: self) {
      case nil: return withEncodedTarget
      case .path:
        // The query is not shown, because it may hold a secret.
        let shown = String((path ?? "").unicodeScalars.prefix { $0 != "?" })
        throw LarderError(
          .invalidArgument,
          "the path \"\(shown)\" of the \(method.rawValue) request does not begin with a slash",
          hint: "give the path of the URI, such as /a; * is for OPTIONS alone")
      case .origin:
        throw LarderError(
          .invalidArgument,
          "the scheme and the authority of the \(method.rawValue) request name no host",
          hint: "give a scheme such as https and an authority such as example.com:8080")
      }
    }

    /// The URI for a transport; nil if the parts do not form a single URI of HTTP.
    package var uri: String? {
      let scheme = scheme?.lowercased() ?? "https"
      guard RequestTarget.fault(in: self) == nil, path != "*", scheme == "http" || scheme == "https"
      else { return nil }
      return authority.map { scheme + "://" + $0 + (path ?? "/") }
    }

    /// The URI for `URL` of Foundation; nil as ``uri``.
    ///
    /// If a target has a character that RFC 3986 forbids, `URL` encodes all of the target, and so each `%` a second time. So this
    /// URI has such characters only in encoded form.
    package var strictURI: String? {
      var request = withEncodedTarget
      request.path = request.path.map(RequestTarget.strict)
      return request.uri
    }
  }

  extension String {
    /// A reference whose path and query `URL` of Foundation does not change, as in ``HTTPRequest/strictURI``.
    package var withStrictTarget: String {
      let path = prefix { !"?#".contains($0) }
      // A host, which may have brackets, ends at the next slash.
      let host = path.prefixMatch(of: /([^\/]*:)?\/\/[^\/]*/)
      let target = self[(host?.range.upperBound ?? startIndex)...].prefix { $0 != "#" }
      let strict = RequestTarget.strict(RequestTarget.encoded(String(target)))
      return self[..<target.startIndex] + strict + self[target.endIndex...]
    }
  }

  enum RequestTarget {
    enum Fault {
      /// A program could take a part of the path for a part of the authority.
      case path
      /// Programs could disagree about the end of the scheme or of the authority, or the host is missing.
      case origin
    }

    static func fault(in request: HTTPRequest) -> Fault? {
      if let scheme = request.scheme?.utf8, !scheme.allSatisfy(isOfScheme) { return .origin }
      if let authority = request.authority?.utf8, !isAuthority(authority) { return .origin }
      guard let path = request.path?.utf8, let first = path.first else { return nil }
      let isWhole = request.method == .options && path.elementsEqual("*".utf8)
      return first == UInt8(ascii: "/") || isWhole ? nil : .path
    }

    private static func isOfScheme(_ byte: UInt8) -> Bool {
      byte.isLetter || byte.isDigit || "+-.".utf8.contains(byte)
    }

    /// Whether all programs that read the URI find the same end of the authority, and the same host.
    private static func isAuthority(_ bytes: String.UTF8View) -> Bool {
      // One loop, because every request calls this function.
      var (hosts, first): (Int, UInt8?) = (1, nil)
      for byte in bytes {
        switch byte {
        case 0...0x20, 0x7F, UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#"),
          UInt8(ascii: "\\"):
          return false
        case UInt8(ascii: "@"): (hosts, first) = (hosts + 1, nil)
        default: first = first ?? byte
        }
      }
      return hosts <= 2 && first != nil && first != UInt8(ascii: ":")
    }

    /// Whether a byte may be in a path or a query without encoding. `%` is allowed, because the target of a request is encoded.
    private static func isAllowed(_ byte: UInt8) -> Bool {
      switch byte {
      case 0x21, 0x24...0x3B, 0x3D, 0x3F...0x5B, 0x5D, 0x5F, 0x61...0x7A, 0x7C, 0x7E: true
      default: false
      }
    }

    static func isEncoded(_ text: String) -> Bool { text.utf8.allSatisfy(isAllowed) }

    static func encoded(_ text: String) -> String {
      if isEncoded(text) { return text }
      var bytes: [UInt8] = []
      for byte in text.utf8.prefix(while: { $0 != UInt8(ascii: "#") }) {
        if isAllowed(byte) {
          bytes.append(byte)
        } else {
          bytes += "%\(Secrets.hexadecimal(CollectionOfOne(byte)).uppercased())".utf8
        }
      }
      return String(decoding: bytes, as: UTF8.self)
    }

    /// An encoded target without characters that RFC 3986 forbids but servers accept: `[`, `]`, `|`, and a `%` without an escape.
    static func strict(_ target: String) -> String {
      let parts = target.split(separator: "%", omittingEmptySubsequences: false)
      let escapes: [String] = parts.dropFirst().map { part in
        (SearchVariance.hexadecimal(part.utf8.prefix(2)) == nil ? "%25" : "%") + String(part)
      }
      return (String(parts[0]) + escapes.joined()).replacing("[", with: "%5B")
        .replacing("]", with: "%5D").replacing("|", with: "%7C")
    }
  }
#endif
