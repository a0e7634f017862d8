public import HTTPTypes
import Larder

/// Under which keys the responses of a URI lie.
///
/// The key of a response is the URI, which has scheme and host in it; where `Vary` or credentials part several responses
/// of one URI, a space and a digest of what parts them follow. A URI has no space, so the prefix `URI + " "` finds those
/// of this URI and no other.
public struct ResponseKey: Hashable, Sendable {
  /// The target URI in a normal form, secrets in its query replaced by digests.
  public let uri: String
  /// As in ``uri``, for comparing origins.
  let origin: String
  /// As in ``uri``, with the port if that is not the scheme's own.
  let host: String

  /// Nil for a request without scheme or authority.
  public init?(_ request: HTTPRequest, policy: HTTPCachePolicy = HTTPCachePolicy()) {
    guard let scheme = request.scheme, let authority = request.authority else { return nil }
    self.init(scheme: scheme, authority: authority, path: request.path ?? "/", policy: policy)
  }

  init(scheme: String, authority: String, path: String, policy: HTTPCachePolicy) {
    let scheme = scheme.lowercased()
    var host = authority.lowercased()
    // A name before @ is no part of the host, and not to be kept.
    if let at = host.lastIndex(of: "@") { host = String(host[host.index(after: at)...]) }
    for (name, port) in [("http", ":80"), ("https", ":443")] where scheme == name {
      if host.hasSuffix(port) { host.removeLast(port.count) }
    }
    if host.hasSuffix(":") { host.removeLast() }
    self.host = host
    origin = scheme + "://" + host
    uri = origin + Self.redacted(path.isEmpty ? "/" : path, policy: policy)
  }

  private static func redacted(_ path: String, policy: HTTPCachePolicy) -> String {
    let path = path.prefix { $0 != "#" }
    guard let mark = path.firstIndex(of: "?") else { return String(path) }
    let parameters = path[path.index(after: mark)...].split(
      separator: "&", omittingEmptySubsequences: false
    ).map { parameter -> String in
      let parts = parameter.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard parts.count == 2, !parts[1].isEmpty,
        policy.secretParameters.contains(parts[0].lowercased())
      else { return String(parameter) }
      return parts[0] + "=~" + Secrets.digest(String(parts[1]))
    }
    return path[...mark] + parameters.joined(separator: "&")
  }

  /// The store's key of the response that is parted from others by these.
  func key(credential: String?, vary: VaryKey) -> String {
    if credential == nil, vary.fields.isEmpty { return uri }
    var parting = credential.map { "credential \($0)\n" } ?? ""
    for (name, value) in vary.fields { parting += name + (value.map { "=" + $0 } ?? "") + "\n" }
    return uri + " " + Secrets.digest(parting)
  }

  /// What the keys of all parted responses begin with.
  var partedPrefix: String { uri + " " }
}
