/// An article as the service lists it, in the shape of readeck's API.
///
/// What may be null or left out there is empty here: authors of a page without any, sizes of an icon.
public struct Bookmark: Codable, Sendable, Hashable, Identifiable {
  /// A file that goes with it.
  public struct Resource: Codable, Sendable, Hashable {
    public var src: String

    public init(src: String) { self.src = src }
  }

  public var id: String
  /// Where the page came from.
  public var url: String
  /// As the page has it: it may be empty. See ``name``.
  public var title: String
  public var siteName: String
  public var authors: [String]
  public var description: String
  public var language: String
  public var labels: [String]
  /// RFC 3339, with as many digits of a second as the service cares to give.
  public var created: String
  /// Another one whenever anything about it has changed, be it how far it was read.
  public var updated: String
  public var readingTime: Int
  /// Whether there is anything to read.
  public var hasArticle: Bool
  public var resources: [String: Resource]

  public init(
    id: String, url: String = "", title: String = "", created: String = "", updated: String = ""
  ) {
    self.id = id
    self.url = url
    self.title = title
    self.created = created
    self.updated = updated
    siteName = ""
    authors = []
    description = ""
    language = ""
    labels = []
    readingTime = 0
    hasArticle = true
    resources = [:]
  }

  /// What to call it: a page without a title is called by its address.
  public var name: String {
    [title, url].lazy.map { $0.trimmingBlanks }.first { !$0.isEmpty } ?? id
  }

  /// Whether it was added later than another one.
  public func isNewer(than other: Bookmark) -> Bool {
    Self.isLater(created, than: other.created) ?? (id > other.id)
  }

  /// Whether anything about it has changed since.
  public func isEdited(since other: Bookmark) -> Bool {
    Self.isLater(updated, than: other.updated) ?? false
  }

  /// Nil for the same moment. The service says all in UTC, and leaves out zeros at the end: of two that begin alike the
  /// shorter is the earlier.
  private static func isLater(_ moment: String, than other: String) -> Bool? {
    let (moment, other) = (moment.prefix { $0 != "Z" }, other.prefix { $0 != "Z" })
    return moment == other ? nil : moment > other
  }

  private enum CodingKeys: String, CodingKey {
    case id, url, title, authors, description, labels, created, updated, resources
    case siteName = "site_name"
    case language = "lang"
    case readingTime = "reading_time"
    case hasArticle = "has_article"
  }

  public init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    func text(_ key: CodingKeys) throws -> String {
      try fields.decodeIfPresent(String.self, forKey: key) ?? ""
    }
    id = try fields.decode(String.self, forKey: .id)
    updated = try fields.decode(String.self, forKey: .updated)
    created = try text(.created)
    url = try text(.url)
    title = try text(.title)
    siteName = try text(.siteName)
    description = try text(.description)
    language = try text(.language)
    authors = try fields.decodeIfPresent([String].self, forKey: .authors) ?? []
    labels = try fields.decodeIfPresent([String].self, forKey: .labels) ?? []
    readingTime = try fields.decodeIfPresent(Int.self, forKey: .readingTime) ?? 0
    hasArticle = try fields.decodeIfPresent(Bool.self, forKey: .hasArticle) ?? true
    resources =
      try fields.decodeIfPresent([String: Resource?].self, forKey: .resources)?
      .compactMapValues { $0 } ?? [:]
  }
}

extension String {
  var trimmingBlanks: String {
    let rest = drop { $0.isWhitespace }
    return String(rest.reversed().drop { $0.isWhitespace }.reversed())
  }
}
