public import Larder

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// An article that is kept, as far as it is known without its HTML being read.
public struct StoredArticle: Sendable, Hashable {
  /// As it was listed when its HTML came.
  public var bookmark: Bookmark
  /// Bytes of HTML.
  public var size: Int
  public var written: Timestamp
  public var used: Timestamp?
  /// Addresses of all images that its HTML shows.
  public var images: [String]
  /// Whether it is kept without images because they do not fit.
  public var lacksImages: Bool { imageLimit != nil }
  /// Whether the service has another version by now.
  public var isEdited: Bool
  /// The limit that its images did not fit in; a higher one gives them another chance.
  var imageLimit: Int?

  /// What is kept beside the HTML.
  struct Notes: Codable {
    var bookmark: Bookmark
    var images: [String]
    var imageLimit: Int?

    init(_ bookmark: Bookmark, images: [String], imageLimit: Int? = nil) {
      self.bookmark = bookmark
      self.images = images
      self.imageLimit = imageLimit
    }

    init(_ article: StoredArticle) {
      self.init(article.bookmark, images: article.images, imageLimit: article.imageLimit)
    }

    func encoded() throws -> [UInt8] { Array(try JSONEncoder().encode(self)) }
  }

  /// Nil for an entry that somebody else made.
  init?(_ entry: Entry) {
    guard entry.state != .expired, let metadata = entry.metadata else { return nil }
    do {
      let notes = try JSONDecoder().decode(Notes.self, from: Data(metadata))
      (bookmark, images, imageLimit) = (notes.bookmark, notes.images, notes.imageLimit)
    } catch {
      return nil
    }
    size = entry.size
    written = entry.written
    used = entry.used
    isEdited = entry.state == .stale
  }
}

extension Sequence<StoredArticle> {
  /// Newest first, by when they were added at the service.
  func newestFirst() -> [StoredArticle] { sorted { $0.bookmark.isNewer(than: $1.bookmark) } }
}
