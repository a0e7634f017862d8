import ArgumentParser
import Articles
import ExampleProgram

struct ListArticles: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "Lists what can be read without a network, newest first.",
    discussion: "With --online the server is asked; if it cannot be, the same as without.")

  @OptionGroup var account: Account

  @Flag(help: "Ask the server for the newest unread articles.")
  var online = false

  @Flag(help: "Print the list as JSON.")
  var json = false

  private struct Line: Encodable {
    var id: String
    var title: String
    var site: String
    var created: String
    var url: String
    /// Whether it can be read without a network.
    var isKept: Bool
    var bytes: Int?
    var images: Int?
    var isEdited: Bool?

    init(_ bookmark: Bookmark, _ kept: StoredArticle?) {
      id = bookmark.id
      title = bookmark.name
      site = bookmark.siteName
      created = bookmark.created
      url = bookmark.url
      isKept = kept != nil
      bytes = kept?.size
      images = kept.map { $0.lacksImages ? 0 : $0.images.count }
      isEdited = kept?.isEdited
    }
  }

  func run() async throws {
    let lines = try await account.open { reader in
      let kept = try reader.stored()
      guard online else { return kept.map { Line($0.bookmark, $0) } }
      let list = try await reader.unread()
      if list.isOffline { Console.complain("there is no network: this is what is kept") }
      return list.bookmarks.map { bookmark in
        Line(bookmark, kept.first { $0.bookmark.id == bookmark.id })
      }
    }
    if json {
      print(try JSONOutput.text(lines))
      return
    }
    for line in lines {
      let mark = line.isKept ? line.isEdited == true ? "edited" : "kept" : ""
      print(
        line.id.padded(to: 24), line.created.prefix(10), mark.padded(to: 6), line.title,
        separator: "  ")
    }
    print("\(lines.count) articles")
    guard let first = lines.first(where: \.isKept) else { return }
    print(account.closing("info @articles \(first.id)", "get @articles \(first.id)"))
  }
}
