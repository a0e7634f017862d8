import Foundation
import Larder
public import Service

/// An article in a list of readeck's API, with all fields of its JSON. Null, absent and malformed fields are empty.
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
  /// As text, the times of one service sort in order.
  public var created: String { text("created") }
  /// The time of the last change, also of the reading progress.
  public var updated: String { text("updated") }
  public var isMarked: Bool { flag("is_marked") }
  public var isArchived: Bool { flag("is_archived") }
  public var isRead: Bool { fields["read_progress"]?.number == 100 }
  var hasArticle: Bool { fields["has_article"]?.isTrue ?? true }

  /// The title; without a title the address, and without an address the id.
  public var name: String {
    [text("title"), url].lazy.map { $0.trimmingBlanks }.first { !$0.isEmpty } ?? id
  }

  func isNewer(than other: Bookmark) -> Bool { created > other.created }

  /// The time of the last change, without the fraction of a second; nil for text in another form.
  var changed: Timestamp? {
    let zone = updated.dropFirst(19).drop { $0 == "." || $0.isNumber }
    return (try? Date(String(updated.prefix(19) + zone), strategy: .iso8601)).map { Timestamp($0) }
  }
}
