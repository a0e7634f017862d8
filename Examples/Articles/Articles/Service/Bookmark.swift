public import Service

/// An article in a list of readeck's API: all fields of its JSON, of which some have a name here.
///
/// Fields that are null or absent there are empty here.
public struct Bookmark: Codable, Sendable, Hashable, Identifiable {
  /// As the service sent it.
  public private(set) var fields: JSON
  public let id: String

  private init(_ fields: JSON, at path: [any CodingKey]) throws {
    guard let id = fields["id"]?.word, (1...400).contains(id.utf8.count),
      fields["updated"]?.text != nil
    else {
      throw DecodingError.dataCorrupted(
        .init(codingPath: path, debugDescription: "a bookmark without id or updated"))
    }
    (self.fields, self.id) = (fields, id)
  }

  public init(from decoder: any Decoder) throws {
    try self.init(JSON(from: decoder), at: decoder.codingPath)
  }
  public func encode(to encoder: any Encoder) throws { try fields.encode(to: encoder) }
  private func text(_ field: String) -> String { fields[field]?.text ?? "" }

  /// The address of the original page.
  public var url: String { text("url") }
  /// As the page has it: it may be empty. See ``name``.
  public var title: String { text("title") }
  public var siteName: String { text("site_name") }
  public var authors: [String] { fields["authors"]?.texts ?? [] }
  public var language: String { text("lang") }
  public var labels: [String] { fields["labels"]?.texts ?? [] }
  /// RFC 3339, with any number of digits of a second.
  public var created: String { text("created") }
  /// Changes with every change of the bookmark, the reading progress included.
  public var updated: String { text("updated") }
  /// Whether there is anything to read.
  public var hasArticle: Bool { fields["has_article"]?.isTrue ?? true }
  public var isMarked: Bool { fields["is_marked"]?.isTrue ?? false }
  public var isArchived: Bool { fields["is_archived"]?.isTrue ?? false }
  /// Whether it was read to its end.
  public var isRead: Bool { fields["read_progress"]?.number == 100 }

  /// The title, or the address of a page without a title.
  public var name: String {
    [title, url].lazy.map { $0.trimmingBlanks }.first { !$0.isEmpty } ?? id
  }

  /// The bookmark with another value of one field.
  func with(_ field: String, _ value: JSON) -> Bookmark {
    var bookmark = self
    bookmark.fields[field] = value
    return bookmark
  }

  /// Whether it was added later than another one. Of two that were added at the same time neither is newer: the service's
  /// order of them is not known.
  public func isNewer(than other: Bookmark) -> Bool {
    ServiceTime.isLater(created, than: other.created)
  }

  /// Whether the service has changed it since. Its times may go back: its clock was set, or a backup restored.
  public func isEdited(since other: Bookmark) -> Bool {
    !ServiceTime.isSame(updated, other.updated)
  }
}
