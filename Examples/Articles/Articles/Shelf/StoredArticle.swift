public import Larder

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// An article that is kept, as far as it is known without its HTML being read.
public struct StoredArticle: Sendable, Hashable {
  /// As it was listed when its HTML came.
  public var bookmark: Bookmark { notes.bookmark }
  /// Bytes of HTML.
  public var size: Int
  public var written: Timestamp
  public var used: Timestamp?
  /// Addresses of all images that its HTML shows.
  public var images: [String] { notes.images }
  /// Whether it is kept without images because they do not fit.
  public var lacksImages: Bool { notes.imageLimit != nil }
  /// Whether the service has another version by now.
  public var isEdited: Bool
  var notes: Notes

  /// What is kept beside the HTML.
  struct Notes: Codable, Hashable {
    var bookmark: Bookmark
    var images: [String]
    /// The limit that its images did not fit in; a higher one gives them another chance.
    var imageLimit: Int?
    /// Images of the version before that have not been let go yet.
    var former: [String]?

    /// Whether an image is to be kept for it.
    func keeps(_ address: String) -> Bool { imageLimit == nil && images.contains(address) }

    func encoded() throws -> [UInt8] { Array(try JSONEncoder().encode(self)) }
  }

  /// Nil for an entry that somebody else made.
  init?(_ entry: Store.Entry) {
    guard entry.state != .expired, let metadata = entry.metadata else { return nil }
    do {
      notes = try JSONDecoder().decode(Notes.self, from: Data(metadata))
    } catch {
      return nil
    }
    size = entry.size
    written = entry.written
    used = entry.lastUsed
    isEdited = entry.state == .stale
  }
}

extension Sequence<StoredArticle> {
  /// Newest first, by when they were added at the service.
  func newestFirst() -> [StoredArticle] { sorted { $0.bookmark.isNewer(than: $1.bookmark) } }
}
