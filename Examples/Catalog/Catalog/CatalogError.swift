/// What is wrong, where that is neither the network nor the store.
public enum CatalogError: Error, Hashable, Sendable, CustomStringConvertible {
  /// A page of fewer than one funnel was asked for.
  case limit(Int)
  /// The service did not know a cursor, and not even after the catalog was read again from its first page.
  case invalidCursor(String)
  /// A page names a cursor that led here already: following it would never end.
  case repeatedCursor(String)
  /// A page says that there are more, and not where.
  case missingCursor
  /// The catalog changed each time that it was read again.
  case keepsChanging
  /// The service does not know the user any more (401), or does not let him see it (403): nothing of him is kept.
  case signedOut(status: Int, message: String)
  /// The user has signed out, here or in another process, or has signed in anew since.
  case ended

  public var description: String {
    switch self {
    case .limit(let limit): "a page of \(limit) funnels is not possible"
    case .invalidCursor(let message): "the catalog cannot be read page by page: \(message)"
    case .repeatedCursor(let cursor): "the catalog has no end: the cursor \(cursor) came twice"
    case .missingCursor: "the catalog says that there is more, and not where"
    case .keepsChanging: "the catalog changes faster than it can be read"
    case .signedOut(let status, let message): "the service answered \(status): \(message)"
    case .ended: "the user has signed out meanwhile"
    }
  }
}
