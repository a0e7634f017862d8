import HTTPTypes

/// What is known of a secret without knowing it: what stores hold in the place of credentials.
///
/// Who keeps answers elsewhere than in an ``HTTPCache`` can part users by it, too.
public enum Secrets {
  /// Request fields whose values are never stored.
  static let fields: Set<HTTPField.Name> = [.authorization, .proxyAuthorization, .cookie]

  /// 128 bits of SHA-256, in hexadecimal: the same for the same text, and no way back to it.
  public static func digest(_ text: String) -> String {
    SHA256.hash(Array(text.utf8)).prefix(16).map { byte in
      (byte < 16 ? "0" : "") + String(byte, radix: 16)
    }.joined()
  }

  /// Who asks, as a digest; nil where the request carries no credentials.
  static func credential(of request: HTTPFields) -> String? {
    request.contains(.authorization)
      ? digest(request.lines(of: .authorization).joined(separator: "\n")) : nil
  }
}
