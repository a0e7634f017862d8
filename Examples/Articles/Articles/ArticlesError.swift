/// What cannot be done, where that is neither the service's doing nor the store's.
public enum ArticlesError: Error, Hashable, Sendable, CustomStringConvertible {
  /// Reading offline is switched off.
  case off
  /// There is no network, and nothing was kept.
  case nothingStored
  /// The user has left, and what was under way with them.
  case signedOut
  /// The service knows the article and has nothing to read of it.
  case noArticle(String)

  public var description: String {
    switch self {
    case .off: "reading offline is switched off"
    case .nothingStored: "there is no network, and no article was kept"
    case .signedOut: "the user has signed out"
    case .noArticle(let id): "there is nothing to read of \(id)"
    }
  }
}
