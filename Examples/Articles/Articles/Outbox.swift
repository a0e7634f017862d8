public import Larder
import Service

/// A change by the user. It stays for a while after it was sent.
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
      // In percent. A read article stays in the list of unread articles until it is archived.
      case .read: ("read_progress", .number(100))
      case .unread: ("read_progress", .number(0))
      case .delete: nil
      }
    }
  }

  /// The place in the order of all changes, and the key of the entry.
  var number: Int
  public var article: String
  public var title: String
  public var kind: Kind
  public var made: Timestamp
  /// The `updated` of the bookmark that the user saw before the change; after the sending, the `updated` with the change.
  var base: String
  /// When the change was sent; nil if the service does not have the change yet.
  var sent: Timestamp?

  var key: String { "\(number)" }
  /// `archive "The ferry"`.
  public var text: String { "\(kind.rawValue) \"\(title)\"" }
}

public struct OutboxReport: Sendable, Hashable {
  public var sent = 0
  /// Changes that were dropped because the service has a later change, or refuses them.
  public var conflicts: [String] = []
  /// Changes that wait for a network, or for a usable answer.
  public var left = 0
  /// Why changes wait although the service answered.
  public var reasons: [String] = []
  public var isRefused = false
}

/// The user sees an article as the service's answer, plus the changes that this answer lacks.
extension [PendingEdit] {
  /// An article as the user sees it; nil if the user has deleted or archived it.
  ///
  /// - Parameter requested: the time before the bookmark was requested.
  func applied(to bookmark: Bookmark, since requested: Timestamp) -> Bookmark? {
    var seen = bookmark
    for edit in changes(of: bookmark.id, since: requested) {
      guard let field = edit.kind.field else { return nil }
      seen.fields[field.name] = field.value
    }
    return seen.isArchived && !bookmark.isArchived ? nil : seen
  }

  /// The changes of an article that the answer to the request may lack.
  func changes(of id: String, since requested: Timestamp) -> [PendingEdit] {
    filter { $0.article == id && $0.sent.map { $0 >= requested } ?? true }
  }
}
