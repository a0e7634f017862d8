import HTTPTypes
import Service

extension Readeck {
  /// The newest unread articles, newest first. Readeck's own list of unread articles has all that are not archived, also
  /// those that were opened.
  ///
  /// A service may give fewer at a time than it is asked for. The further ones are requested as long as it says that there are
  /// more.
  public func unread(limit: Int) async throws -> ArticleList {
    var list = ArticleList(bookmarks: [])
    var seen: Set<String> = []
    var offset = 0
    while true {
      let path =
        "/bookmarks?is_archived=false&type=article&sort=-created&limit=\(limit - offset)&offset=\(offset)"
      let (page, reply) = try await service.get(LenientList<Bookmark>.self, from: path) { again in
        try service.checked(await service.send(path, fields: again ?? Self.accept))
      }
      let new = page.elements.filter { seen.insert($0.id).inserted }
      list.bookmarks += new
      list.unreadable += page.skipped
      let count = page.elements.count + page.skipped.count
      offset += count
      // Of a service that does not go on but begins again.
      let isRepeated = new.isEmpty && !page.elements.isEmpty
      list.isFull = offset >= limit && !isRepeated
      list.isWhole = list.isFull || !Self.hasMore(reply, behind: offset) && !isRepeated
      if list.isWhole || isRepeated || count == 0 { break }
    }
    list.bookmarks.sort { $0.isNewer(than: $1) }
    return list
  }

  /// Whether the list goes on, by its number of articles or the link to its next page.
  private static func hasMore(_ reply: Reply, behind offset: Int) -> Bool {
    func field(_ name: String) -> String? { HTTPField.Name(name).flatMap { reply.fields[$0] } }
    if let total = field("Total-Count").flatMap({ Int($0) }) { return offset < total }
    return field("Link")?.contains("rel=\"next\"") ?? false
  }
}
