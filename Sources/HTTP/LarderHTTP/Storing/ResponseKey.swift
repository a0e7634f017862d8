#if HTTP
  public import HTTPTypes
  import Larder

  /// The keys under which the responses of one URI are stored.
  ///
  /// A key is the URI or, for a URI of more than 180 bytes, its beginning and a SHA-256 hash. If the body of the request is part
  /// of the key (``HTTPCacheRule/bodyMethods``), `#` and a digest of the body follow. If `Vary` or credentials separate several
  /// responses, a space and a digest follow. A URI in a key is printable ASCII without `#` and spaces. So the prefix `URI + " "`
  /// finds only its responses. A key has at most 250 bytes: a longer key would cost time for other keys with its beginning.
  public struct ResponseKey: Hashable, Sendable {
    /// The target URI in a normal form. Secrets in its query are replaced by digests.
    public internal(set) var uri: String
    /// Scheme and host of ``uri``, to compare origins.
    let origin: String
    /// The host of ``uri``, with the port if it is not the scheme's default.
    let host: String
    /// The digest of the request's body; nil if the URI alone is the key.
    var bodyDigest: String?

    /// Makes the key. Nil without scheme or authority, for `OPTIONS *`, and if the parts do not form a URI of one host.
    public init?(_ request: HTTPRequest, policy: HTTPCachePolicy = HTTPCachePolicy()) {
      guard let scheme = request.scheme, let authority = request.authority,
        RequestTarget.fault(in: request) == nil, request.path != "*"
      else { return nil }
      self.init(scheme: scheme, authority: authority, path: request.target, policy: policy)
    }

    init(scheme: String, authority: String, path: String, policy: HTTPCachePolicy) {
      host = Self.host(scheme: scheme, authority: authority)
      origin = RequestTarget.encoded(scheme.lowercased()) + "://" + host
      uri = origin + Self.normalized(RequestTarget.encoded(path), of: host, policy: policy)
    }

    static func host(scheme: String, authority: String) -> String {
      let scheme = scheme.lowercased()
      // User information is a credential and not part of the host: see `Principal`.
      var host = authority.lowercased()
      if let at = host.utf8.lastIndex(of: UInt8(ascii: "@")) {
        host = String(host[host.utf8.index(after: at)...])
      }
      for (name, port) in [("http", ":80"), ("https", ":443")] where scheme == name {
        if host.hasSuffix(port) { host.removeLast(port.count) }
      }
      if host.hasSuffix(":") { host.removeLast() }
      return RequestTarget.encoded(host)
    }

    /// The path and the query in a normal form: the query follows the rules and has digests in place of secrets.
    private static func normalized(
      _ path: String, of host: String, policy: HTTPCachePolicy
    ) -> String {
      guard let mark = path.firstIndex(of: "?") else { return path }
      let all = path[path.index(after: mark)...].split(
        separator: "&", omittingEmptySubsequences: false)
      let kept = policy.rule(host: host, path: path)?.query(all) ?? all
      // A query that has only ignored parameters counts as no query.
      if kept.isEmpty, !all.isEmpty { return String(path[..<mark]) }
      let parameters = kept.map { parameter -> String in
        let parts = parameter.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[1].isEmpty, policy.secretParameters.hasParameter(parts[0])
        else { return String(parameter) }
        return parts[0] + "=~" + Secrets.digest(String(parts[1]), key: policy.secret)
      }
      return path[...mark] + parameters.joined(separator: "&")
    }

    /// The key of the response without credentials and `Vary`.
    var base: String { bodyDigest.map { bodyPrefix + $0 } ?? shortenedURI(longest: 180, kept: 140) }

    var bodyPrefix: String { shortenedURI(longest: 140, kept: Self.shortestBeginning) + "#" }

    /// Each key of a URI begins with this number of bytes of the URI, or with the whole URI if it is shorter.
    static let shortestBeginning = 100

    /// Cuts a URI of more than `longest` bytes and adds a hash. The result is longer than `longest`, so it equals no uncut URI.
    private func shortenedURI(longest: Int, kept: Int) -> String {
      guard uri.utf8.count > longest else { return uri }
      let hash = Secrets.hexadecimal(SHA256.hash(Array(uri.utf8)))
      return String(decoding: uri.utf8.prefix(kept), as: UTF8.self) + "~" + hash
    }

    /// The digest of the content of a request: the body, the method, the type and the coding.
    static func digest(
      of body: [UInt8], in request: HTTPRequest, policy: HTTPCachePolicy
    ) -> String {
      let fields = [HTTPField.Name.contentType, .contentEncoding].map {
        request.headerFields.lines(of: $0).joined(separator: "\n")
      }
      let parts = [request.method.rawValue] + fields
      let bytes = parts.flatMap { SHA256.hash(Array($0.utf8)) } + body
      return Secrets.digest(bytes, key: policy.secret)
    }

    /// The key of a response that credentials and `Vary` separate from other responses of its URI.
    func key(credential: String?, vary: VaryKey) -> String {
      if credential == nil, vary.fields.isEmpty { return base }
      var variant = credential.map { "credential \($0)\n" } ?? ""
      // Credentials and values are already keyed digests, so a hash without a key is enough.
      for (name, value) in vary.fields { variant += name + (value.map { "=" + $0 } ?? "") + "\n" }
      return variantPrefix + Secrets.hash(variant)
    }

    var variantPrefix: String { base + " " }
  }
#endif
