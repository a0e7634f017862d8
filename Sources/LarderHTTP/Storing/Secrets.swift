import HTTPTypes

/// Digests of secrets: the store holds them in place of credentials.
///
/// Code that stores responses by other means than an ``HTTPCache`` can use them to separate its users, too.
public enum Secrets {
  /// Request fields whose values are never stored.
  static let fields: Set<HTTPField.Name> = [.authorization, .proxyAuthorization, .cookie]

  /// 128 bits of SHA-256 of `text`, in hexadecimal. Equal texts have equal digests.
  public static func digest(_ text: String) -> String { digest(text, key: []) }

  /// A digest that only a holder of `key` can compute for a guessed text.
  static func digest(_ text: String, key: [UInt8]) -> String {
    digest(Array(text.utf8), key: key)
  }

  static func digest(_ bytes: [UInt8], key: [UInt8]) -> String {
    // The inner hash keeps `key` and the bytes apart and rules out length extension.
    let hash = key.isEmpty ? SHA256.hash(bytes) : SHA256.hash(key + SHA256.hash(key + bytes))
    return hash.prefix(16).map(hexadecimal).joined()
  }

  static func hexadecimal(_ byte: UInt8) -> String {
    (byte < 16 ? "0" : "") + String(byte, radix: 16)
  }
}
