public import Larder
import Service

/// A change that the user made and the service does not have yet.
public struct PendingEdit: Codable, Sendable, Hashable {
  public enum Kind: String, Codable, Sendable, CaseIterable {
    case archive, unarchive, mark, unmark, read, unread, delete

    /// The field of the bookmark and its value; nil for a deletion.
    var field: (name: String, value: JSON)? {
      switch self {
      case .archive: ("is_archived", .bool(true))
      case .unarchive: ("is_archived", .bool(false))
      case .mark: ("is_marked", .bool(true))
      case .unmark: ("is_marked", .bool(false))
      // In percent; an article stays in the list of unread ones until it is archived.
      case .read: ("read_progress", .number(100))
      case .unread: ("read_progress", .number(0))
      case .delete: nil
      }
    }
  }

  public var article: String
  public var title: String
  public var kind: Kind
  public var made: Timestamp
  /// The bookmark's `updated` that the user has seen: of the stored article, or after the previous change of it was sent.
  var base: String?

  /// `archive "The ferry"`.
  public var text: String { "\(kind.rawValue) \"\(title)\"" }
}
