public import HTTPTypes
import Larder

/// The keys under which the responses of one URI are stored.
///
/// A key is the URI, or its beginning and a SHA-256 hash where the URI is longer than 180 bytes. Where `Vary` or
/// credentials separate several responses of one URI, a space and a digest follow. A key without its digest contains no
/// space and no byte outside printable ASCII, so the prefix `URI + " "` finds the responses of this URI and of no other.
/// A key has at most 250 bytes, so its cost does not depend on other keys with the same beginning.
public struct ResponseKey: Hashable, Sendable {
  private static let longestURI = 180
  private static let keptOfLongURI = 140

  /// The target URI in a normal form. Secrets in its query are replaced by digests.
  public let uri: String
  /// Scheme and host of ``uri``, for comparing origins.
  let origin: String
  /// The host of ``uri``, with the port if it is not the scheme's default.
  let host: String

  /// Nil for a request without scheme or authority.
  public init?(_ request: HTTPRequest, policy: HTTPCachePolicy = HTTPCachePolicy()) {
    guard let scheme = request.scheme, let authority = request.authority else { return nil }
    self.init(scheme: scheme, authority: authority, path: request.path ?? "/", policy: policy)
  }

  init(scheme: String, authority: String, path: String, policy: HTTPCachePolicy) {
    let scheme = scheme.lowercased()
    // User information is a credential and no part of the host: see `Principal`.
    var host = authority.lowercased()
    if let at = host.lastIndex(of: "@") { host = String(host[host.index(after: at)...]) }
    for (name, port) in [("http", ":80"), ("https", ":443")] where scheme == name {
      if host.hasSuffix(port) { host.removeLast(port.count) }
    }
    if host.hasSuffix(":") { host.removeLast() }
    self.host = RequestTarget.encoded(host)
    origin = RequestTarget.encoded(scheme) + "://" + self.host
    let path = RequestTarget.encoded(path)
    uri = origin + Self.redacted(path.isEmpty ? "/" : path, policy: policy)
  }

  private static func redacted(_ path: String, policy: HTTPCachePolicy) -> String {
    guard let mark = path.firstIndex(of: "?") else { return path }
    let parameters = path[path.index(after: mark)...].split(
      separator: "&", omittingEmptySubsequences: false
    ).map { parameter -> String in
      let parts = parameter.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard parts.count == 2, !parts[1].isEmpty,
        policy.secretParameters.contains(parts[0].lowercased())
      else { return String(parameter) }
      return parts[0] + "=~" + Secrets.digest(String(parts[1]), key: policy.secret)
    }
    return path[...mark] + parameters.joined(separator: "&")
  }

  /// The key of the response without credentials and `Vary`.
  ///
  /// A shortened URI is longer than 180 bytes, so it cannot equal a URI that is kept whole.
  var base: String {
    guard uri.utf8.count > Self.longestURI else { return uri }
    let hash = SHA256.hash(Array(uri.utf8)).map(Secrets.hexadecimal).joined()
    return String(decoding: uri.utf8.prefix(Self.keptOfLongURI), as: UTF8.self) + "~" + hash
  }

  /// The key of the response that credentials and `Vary` separate from others of its URI.
  func key(credential: String?, vary: VaryKey) -> String {
    if credential == nil, vary.fields.isEmpty { return base }
    var variant = credential.map { "credential \($0)\n" } ?? ""
    for (name, value) in vary.fields { variant += name + (value.map { "=" + $0 } ?? "") + "\n" }
    return variantPrefix + Secrets.digest(variant)
  }

  /// The common beginning of the keys of all variants.
  var variantPrefix: String { base + " " }
}
