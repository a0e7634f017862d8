/// Failures that neither the service nor the store reports.
public enum ArticlesError: Error, Hashable, Sendable, CustomStringConvertible {
  /// Offline reading is switched off.
  case off
  /// There is no network, and no article is stored.
  case nothingStored
  /// The user signed out, or switched offline reading off, during a sync.
  case ended
  /// The service has no text of this article.
  case noArticle(String)
  /// An opened article is not stored: none of the stored ones, this many, is older.
  case noPlace(Int)
  /// The article is not stored, and the service does not have it.
  case unknown(String, reason: String)

  public var description: String {
    switch self {
    case .off: "offline reading is switched off"
    case .nothingStored: "there is no network, and no article is stored"
    case .ended: "the stored articles were removed meanwhile"
    case .noArticle(let id): "the service has no text of \(id)"
    case .noPlace(let count):
      "it is not stored: of the \(count) articles that may be stored none is older"
    case .unknown(let id, let reason): "the article \(id) is not stored, and \(reason)"
    }
  }
}

/// An article to read.
public struct Article: Encodable, Sendable, Hashable {
  public var bookmark: Bookmark
  public var html: String
  /// Whether it is stored, and can be read without a network.
  public var isKept: Bool
  /// Whether the service has a newer version, which could not be fetched.
  public var isOutdated: Bool
  /// Why the service's version could not be fetched, so that this is the stored one.
  public var reason: String?
  /// Whether the service refuses the user.
  public var isRefused = false
}

/// A list of articles.
public struct ArticleList: Sendable, Hashable {
  public var bookmarks: [Bookmark]
  /// Whether there is no network, so that these are the stored ones.
  public var isOffline = false
  /// The listed bookmarks that cannot be decoded, and why.
  public var unreadable: [String] = []
  /// Whether the service gave as many as it was asked for, or all that it has.
  public var isWhole = true
  /// Whether it gave as many, so that it may have more.
  var isFull = false
  /// Whether a stored article that is missing in it was archived or deleted: a list without its length may have been cut.
  var tellsGone = false
}

/// The size of the stored data.
public struct ArticleUsage: Sendable, Hashable, Codable {
  public var articles: Int
  public var htmlBytes: Int
  public var images: Int
  public var imageBytes: Int
  /// The last sync that stored something, or found that nothing is missing: RFC 3339, as the times of bookmarks.
  public var lastSync: String?
  /// Changes that the service does not have yet.
  public var pendingEdits: Int

  /// `20 articles, 1.2 MB of HTML and 34.0 MB of images`.
  public var text: String {
    "\(articles) \(articles == 1 ? "article" : "articles"), \(Self.size(htmlBytes)) of HTML"
      + " and \(Self.size(imageBytes)) of images"
  }

  /// `1.5 kB`.
  public static func size(_ bytes: Int) -> String {
    switch bytes {
    case ..<1_000: "\(bytes) B"
    case ..<1_000_000: "\(bytes / 100 / 10).\(bytes / 100 % 10) kB"
    default: "\(bytes / 100_000 / 10).\(bytes / 100_000 % 10) MB"
    }
  }
}
