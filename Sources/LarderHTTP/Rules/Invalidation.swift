import HTTPTypes

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The invalidation by unsafe requests (RFC 9111, 4.4).
enum Invalidation {
  /// Safe methods (RFC 9110, 9.2.1; RFC 4918 and 3253; QUERY). All others, known or unknown, are unsafe.
  private static let safe: Set<String> = [
    "GET", "HEAD", "OPTIONS", "TRACE", "PROPFIND", "REPORT", "SEARCH", "QUERY",
  ]

  static func isSafe(_ method: HTTPRequest.Method) -> Bool { safe.contains(method.rawValue) }

  /// The URIs to invalidate: the target, and `Location` and `Content-Location` on the same origin. Empty for a failed request.
  static func keys(
    of request: HTTPRequest, _ response: HTTPResponse, policy: HTTPCachePolicy
  ) -> [ResponseKey] {
    guard !isSafe(request.method), (200...399).contains(response.status.code),
      let target = ResponseKey(request, policy: policy)
    else { return [] }
    var keys = [target]
    for name in [HTTPField.Name.location, .contentLocation] {
      for location in response.headerFields[values: name] {
        guard let key = resolve(location, against: request, policy: policy),
          key.origin == target.origin, !keys.contains(key)
        else { continue }
        keys.append(key)
      }
    }
    return keys
  }

  /// Resolves a reference in a response; nil if it is not an HTTP URI.
  static func resolve(
    _ reference: String, against request: HTTPRequest, policy: HTTPCachePolicy
  ) -> ResponseKey? {
    guard let scheme = request.scheme, let authority = request.authority,
      let base = URL(string: scheme + "://" + authority + (request.path ?? "/"))
    else { return nil }
    if reference.isEmpty { return ResponseKey(request, policy: policy) }
    guard let url = URL(string: reference, relativeTo: base)?.absoluteURL,
      let scheme = url.scheme, ["http", "https"].contains(scheme.lowercased()),
      var host = url.host(percentEncoded: true)
    else { return nil }
    if host.contains(":"), !host.hasPrefix("[") { host = "[" + host + "]" }
    var path = url.path(percentEncoded: true)
    if let query = url.query(percentEncoded: true) { path += "?" + query }
    return ResponseKey(
      scheme: scheme, authority: host + (url.port.map { ":\($0)" } ?? ""), path: path,
      policy: policy)
  }
}
