import LarderHTTP

/// Separates the answers for one user of one service from all others.
///
/// Each realm has its own namespaces, so a user never sees what another user fetched, nor one service's answers under
/// another's name. Names of namespaces end in a digest, from which the credential cannot be recovered.
public struct Realm: Hashable, Sendable {
  private let mark: String?

  /// Public data; names have no digest.
  public static let open = Realm(mark: nil)

  private init(mark: String?) { self.mark = mark }

  public init(base: String, credential: String) {
    mark = String(Secrets.digest(base + "\n" + credential).prefix(12))
  }

  /// A namespace's name in this realm, `lego.colors` or `lego.colors.1f0c2a9b03d4`.
  public func name(_ namespace: String) -> String { namespace + (mark.map { "." + $0 } ?? "") }
}
