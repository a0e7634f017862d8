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
    var totals: Set<String?> = []
    var saysEnd = false
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
      let hasMore = Self.hasMore(reply, behind: offset)
      list.isWhole = list.isFull || hasMore != true && !isRepeated
      totals.insert(Self.field("Total-Count", of: reply))
      // An article that leaves the list between two pages moves the others.
      saysEnd = saysEnd || hasMore != nil
      list.tellsGone = totals.count == 1 && (list.isFull || hasMore != true && saysEnd)
      if list.isWhole || isRepeated || count == 0 { break }
    }
    list.bookmarks.sort { $0.isNewer(than: $1) }
    return list
  }

  /// Whether the list goes on, by its number of articles or the link to its next page; nil if the service does not say.
  private static func hasMore(_ reply: Reply, behind offset: Int) -> Bool? {
    // A negative number says nothing.
    if let total = field("Total-Count", of: reply).flatMap({ UInt($0) }) { return offset < total }
    return field("Link", of: reply).map { link in
      link.filter { !"\"' ".contains($0) }.contains("rel=next")
    }
  }

  private static func field(_ name: String, of reply: Reply) -> String? {
    HTTPField.Name(name).flatMap { reply.fields[$0] }
  }
}
