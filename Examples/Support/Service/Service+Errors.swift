import Foundation
import HTTPTypes

/// The errors of a service in its own words.
extension Service {
  private static let longestMessage = 200
  /// The longest text that is searched for credentials.
  private static let longestText = 100_000
  /// A shorter credential would hide other words.
  private static let shortestSecret = 4

  /// The answer itself if it is good (2xx); throws otherwise.
  public func checked(_ reply: Reply) throws(ServiceError) -> Reply {
    // A part comes only to those who ask for it (RFC 9110, 15.3.7).
    if reply.status == 206 {
      throw ServiceError.undecodable(path: reply.path, reason: "it is a part (206)")
    }
    guard (200..<300).contains(reply.status) else {
      throw ServiceError.refused(status: reply.status, message: reason(of: reply))
    }
    return reply
  }

  /// The text of an error, without the credentials of the request, which some services quote.
  public func reason(of reply: Reply) -> String {
    guard var text = text(of: reply)?.prefix(Self.longestText).description else {
      return "no reason given"
    }
    for secret in secrets(in: reply.path) { text = text.replacing(secret, with: "***") }
    return String(text.prefix(Self.longestMessage))
  }

  private func text(of reply: Reply) -> String? {
    if let json = reply.json { return message(json) }
    // Some services send plain text as HTML.
    let text = String(validating: reply.body, as: UTF8.self)?.trimmingBlanks ?? ""
    return text.isEmpty || text.hasPrefix("<") ? nil : text
  }

  /// The credentials of a request as they are and as they are escaped, the longest first.
  private func secrets(in path: String) -> [String] {
    // After the scheme: `Bearer abc`.
    var secrets = fields[.authorization]?.split(separator: " ").suffix(1).map(String.init) ?? []
    for parameter in path.split(separator: "?", maxSplits: 1).dropFirst().joined().split(
      separator: "&")
    {
      let parts = parameter.split(separator: "=", maxSplits: 1).map(String.init)
      guard parts.count == 2, secretParameters.contains(parts[0].lowercased()) else { continue }
      secrets += [parts[1], parts[1].removingPercentEncoding ?? parts[1]]
    }
    secrets += secrets.map(\.percentEscaped)
    return secrets.filter { $0.count >= Self.shortestSecret }.sorted { $0.count > $1.count }
  }
}
