import Foundation
public import Larder

/// A stored article without its HTML.
public struct StoredArticle: Sendable, Hashable {
  /// As it was when its HTML was fetched.
  public var bookmark: Bookmark { notes.bookmark }
  /// Bytes of HTML.
  public var size: Int
  /// When it was stored, or found unchanged.
  public var written: Timestamp
  /// The addresses of all images in its HTML.
  public var images: [String] { notes.images }
  /// Whether it has no images because they do not fit.
  public var lacksImages: Bool { notes.imageLimit != nil }
  /// Whether the service has a newer version.
  public var isEdited: Bool
  var notes: Notes

  /// The metadata of the entry.
  struct Notes: Codable, Hashable {
    var bookmark: Bookmark
    var images: [String]
    /// The limit that its images exceeded; they are fetched again under a higher one.
    var imageLimit: Int?
    /// The service's `updated` after the user's last change of it, which is no change by others.
    var ownChange: String?

    func encoded() throws -> [UInt8] { Array(try JSONEncoder().encode(self)) }
  }

  /// Nil for an entry without an article's metadata.
  init?(_ entry: Store.Entry) {
    guard entry.state != .expired, let metadata = entry.metadata else { return nil }
    do {
      notes = try JSONDecoder().decode(Notes.self, from: Data(metadata))
    } catch {
      return nil
    }
    size = entry.size
    written = entry.written
    isEdited = entry.state == .stale
  }
}
