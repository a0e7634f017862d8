import Foundation
public import Larder
public import Service

/// Failures that neither the service nor the store reports.
public enum ArticlesError: String, Error, CustomStringConvertible {
  case off = "offline reading is switched off"
  case nothingStored = "there is no network, and no article is stored"
  /// The user has signed out, or has switched offline reading off, during the call.
  case ended = "the stored articles were removed meanwhile"

  public var description: String { rawValue }
}

/// An article in a list of readeck's API, with all fields of its JSON. A field that is null, absent or malformed counts as empty.
public struct Bookmark: Codable, Sendable, Hashable {
  public internal(set) var fields: JSON
  public let id: String

  public init(from decoder: any Decoder) throws {
    fields = try JSON(from: decoder)
    guard let id = fields["id"]?.word, (1...400).contains(id.utf8.count),
      fields["updated"]?.text != nil
    else {
      let reason = "a bookmark without id or updated"
      throw DecodingError.dataCorrupted(
        .init(codingPath: decoder.codingPath, debugDescription: reason))
    }
    self.id = id
  }

  public func encode(to encoder: any Encoder) throws { try fields.encode(to: encoder) }
  private func text(_ field: String) -> String { fields[field]?.text ?? "" }
  private func flag(_ field: String) -> Bool { fields[field]?.isTrue ?? false }

  public var url: String { text("url") }
  /// The time, as text, at which the article was saved. In one service such texts sort like their times.
  public var created: String { text("created") }
  /// The time of the last change. Progress in reading is also a change.
  public var updated: String { text("updated") }
  public var isMarked: Bool { flag("is_marked") }
  public var isArchived: Bool { flag("is_archived") }
  public var isRead: Bool { fields["read_progress"]?.number == 100 }
  var hasArticle: Bool { fields["has_article"]?.isTrue ?? true }

  /// The title. If there is no title, the address; if there is no address either, the id.
  public var name: String {
    [text("title"), url].lazy.map { $0.trimmingBlanks }.first { !$0.isEmpty } ?? id
  }

  func isNewer(than other: Bookmark) -> Bool { created > other.created }

  /// The time of the last change in whole seconds. Nil if the text has another form.
  var changed: Timestamp? {
    let zone = updated.dropFirst(19).drop { $0 == "." || $0.isNumber }
    return (try? Date(String(updated.prefix(19) + zone), strategy: .iso8601)).map { Timestamp($0) }
  }
}

public struct Article: Sendable {
  public var bookmark: Bookmark
  public var html: String
  public var isKept = true
  /// The reason why the newer version of the service could not be fetched, or why the article could not be stored.
  public var error: (any Error)?
}

public struct ArticleList: Sendable, Hashable {
  public var bookmarks: [Bookmark]
  /// Whether there is no network. If so, the list has the stored articles.
  public var isOffline = false
  public var unreadable: [String] = []
  /// Whether the list has as many articles as were requested, or all articles that the service has.
  var isWhole = false
}

/// A stored article without its HTML: the metadata of the article's entry.
public struct StoredArticle: Codable, Sendable, Hashable {
  private enum CodingKeys: CodingKey { case bookmark, requested, images, imageLimit }

  /// The bookmark that was fetched with the HTML, with the later changes of the user.
  public internal(set) var bookmark: Bookmark
  /// The time just before the request for the bookmark. The bookmark may lack changes after this time.
  var requested: Timestamp
  public internal(set) var images: [String] = []
  /// The limit that the images exceed, so the article has no images. With a higher limit, the images are fetched again.
  var imageLimit: Int?
  /// Whether the service has a newer version.
  public internal(set) var isEdited = false

  public var lacksImages: Bool { imageLimit != nil }

  func encoded() throws -> [UInt8] { Array(try JSONEncoder().encode(self)) }
}

extension StoredArticle {
  /// Nil if the entry has expired, or if its metadata is not that of an article.
  init?(_ entry: Store.Entry) {
    guard entry.state != .expired, let metadata = entry.metadata,
      var article = try? JSONDecoder().decode(Self.self, from: Data(metadata))
    else { return nil }
    article.isEdited = entry.state == .stale
    self = article
  }
}

/// The user's settings for reading without a network (offline reading).
public struct OfflineSettings: Codable, Sendable, Hashable {
  /// Whether articles are stored for offline reading.
  public let isOn: Bool
  /// The largest number of stored articles: 0, 10, 20, ... 100.
  public let articles: Int
  public let keepsImages: Bool
  /// The size of all images in megabytes: 50 to 1,200.
  public let imageMegabytes: Int

  /// Replaces an impossible number by the nearest possible number. For nil, uses the value of `other`, or else the default.
  public init(
    isOn: Bool? = nil, articles: Int? = nil, keepsImages: Bool? = nil, imageMegabytes: Int? = nil,
    over other: OfflineSettings? = nil
  ) {
    self.isOn = isOn ?? other?.isOn ?? true
    let number = articles ?? other?.articles ?? 20
    self.articles = (min(max(number, 0), 100) + 5) / 10 * 10
    self.keepsImages = keepsImages ?? other?.keepsImages ?? false
    self.imageMegabytes = min(max(imageMegabytes ?? other?.imageMegabytes ?? 200, 50), 1_200)
  }

  /// Settings from an earlier version of the program may lack a field.
  public init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      isOn: try fields.decodeIfPresent(Bool.self, forKey: .isOn),
      articles: try fields.decodeIfPresent(Int.self, forKey: .articles),
      keepsImages: try fields.decodeIfPresent(Bool.self, forKey: .keepsImages),
      imageMegabytes: try fields.decodeIfPresent(Int.self, forKey: .imageMegabytes))
  }

  var limit: Int { isOn ? articles : 0 }
  var imageBytes: Int { isOn && keepsImages ? .megabytes(imageMegabytes) : 0 }
}

public struct ArticleUsage: Sendable, Hashable {
  public var articles: Int
  public var htmlBytes: Int
  public var images: Int
  public var imageBytes: Int
  /// The time of the last sync that stored an article, or found all articles stored.
  public var lastSync: Timestamp?

  /// A text such as `20 articles, 1.2 MB of HTML and 34 MB of images`.
  public var text: String {
    let sizes = [htmlBytes, imageBytes].map {
      $0.formatted(.byteCount(style: .file, spellsOutZero: false))
    }
    return "\(articles) \(articles == 1 ? "article" : "articles"), \(sizes[0]) of HTML"
      + " and \(sizes[1]) of images"
  }
}
