/// Failures that neither the network nor the store reports.
public enum CatalogError: Error, Hashable, Sendable, CustomStringConvertible {
  /// A page size below 1.
  case limit(Int)
  /// The service refused a cursor, also after the catalog was read again from its first page.
  case invalidCursor(String)
  /// A page has the cursor of an earlier page: the catalog would never end.
  case repeatedCursor(String)
  /// There are more pages than ``mostPages``: the catalog may never end.
  case tooManyPages
  /// A page has `hasMore` without a cursor.
  case missingCursor
  /// The catalog changed each time that it was read again.
  case keepsChanging
  /// The service answered 401 or 403; the user's data was removed.
  case signedOut(status: Int, message: String)

  /// The most pages of a listing, 50,000 funnels of the default size of a page.
  public static let mostPages = 1_000

  public var description: String {
    switch self {
    case .limit(let limit): "a page of \(limit) funnels is not possible"
    case .invalidCursor(let message): "the catalog cannot be read page by page: \(message)"
    case .repeatedCursor(let cursor): "the catalog has no end: the cursor \(cursor) came twice"
    case .tooManyPages: "the catalog has no end: there are more than \(Self.mostPages) pages"
    case .missingCursor: "the catalog has more pages, but no cursor for them"
    case .keepsChanging: "the catalog changes faster than it can be read"
    case .signedOut(let status, let message): "the service answered \(status): \(message)"
    }
  }
}
