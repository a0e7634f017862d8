/// The tags that every stored response carries, so that one call ends all of a host, or all of a user.
enum ResponseTags {
  private static let longestHost = 150

  /// - Parameter host: as ``ResponseKey/host`` or as a caller writes it. Ports that some scheme has for its own are left
  ///   out, whatever the scheme.
  static func host(_ host: String) -> String {
    var host = RequestTarget.encoded(host).lowercased()
    for port in [":80", ":443", ":"] where host.hasSuffix(port) {
      host.removeLast(port.count)
      break
    }
    return "http-host:" + (host.utf8.count <= longestHost ? host : Secrets.digest(host))
  }

  /// - Parameter credential: a digest, as ``StoredResponse/credential``.
  static func user(_ credential: String) -> String { "http-user:" + credential }

  /// Of all responses of a URI; only requests under way are found by it, since keys find those that are stored.
  static func uri(_ key: ResponseKey) -> String { "http-uri:" + key.uri }
}
