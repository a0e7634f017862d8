import LarderHTTP

/// Whose answers a cache holds: those of one service to one who asks.
///
/// Each realm has namespaces of its own, so that what one may see is never given to another, nor what one service says for
/// what another says. Their names end with a digest, from which nobody learns the credential.
public struct Realm: Hashable, Sendable {
  private let mark: String?

  /// What everybody can download; the names have no digest.
  public static let open = Realm(mark: nil)

  private init(mark: String?) { self.mark = mark }

  public init(base: String, credential: String) {
    mark = String(Secrets.digest(base + "\n" + credential).prefix(12))
  }

  /// A namespace's name in this realm, `lego.colors` or `lego.colors.1f0c2a9b03d4`.
  public func name(_ namespace: String) -> String { namespace + (mark.map { "." + $0 } ?? "") }
}
