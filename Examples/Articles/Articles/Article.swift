public import Larder

/// An article to read.
public struct Article: Sendable, Hashable {
  public var bookmark: Bookmark
  public var html: String
  /// Whether it is kept for when there is no network.
  public var isKept: Bool
  /// Whether the service has a newer one that could not be fetched.
  public var isOutdated: Bool
}

/// Articles to choose from.
public struct ArticleList: Sendable, Hashable {
  public var bookmarks: [Bookmark]
  /// Whether these are the ones that are kept, because there is no network.
  public var isOffline: Bool
}

/// How much is kept.
public struct ArticleUsage: Sendable, Hashable, Codable {
  public var articles: Int
  public var htmlBytes: Int
  public var images: Int
  public var imageBytes: Int
  /// When a sync last brought something, or found that nothing is missing.
  public var lastSync: Timestamp?

  /// `20 articles, 1.2 MB of HTML and 34.0 MB of images`.
  public var text: String {
    "\(articles) \(articles == 1 ? "article" : "articles"), \(Self.size(htmlBytes)) of HTML"
      + " and \(Self.size(imageBytes)) of images"
  }

  static func size(_ bytes: Int) -> String {
    switch bytes {
    case ..<1_000: "\(bytes) B"
    case ..<1_000_000: "\(bytes / 100 / 10).\(bytes / 100 % 10) kB"
    default: "\(bytes / 100_000 / 10).\(bytes / 100_000 % 10) MB"
    }
  }
}
