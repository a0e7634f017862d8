import ArgumentParser
import Articles
import ExampleProgram
import Service

struct ShowArticle: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show",
    abstract: "Prints an article's HTML; one that is not kept is fetched, and its images after it.")

  @Argument(help: "The id, as `list` prints it.")
  var id: String

  @OptionGroup var account: Account

  @Flag(help: "Print the article as JSON.")
  var json = false

  private struct Shown: Encodable {
    var bookmark: Bookmark
    var html: String
    var isKept: Bool
    var isOutdated: Bool
  }

  func run() async throws {
    // Nobody has to wait for images to read.
    try await account.open { reader in
      do {
        try show(await reader.article(id: id))
      } catch let error as ServiceError {
        guard case .refused(status: 404, _) = error else { throw error }
        throw Failure(
          .noSuchKey, "\(error)", hint: "larder-articles list --online shows what there is")
      }
    }
  }

  private func show(_ article: Article) throws {
    if json {
      let shown = Shown(
        bookmark: article.bookmark, html: article.html, isKept: article.isKept,
        isOutdated: article.isOutdated)
      print(try JSONOutput.text(shown))
      return
    }
    if article.isOutdated {
      Console.complain("there is a newer version, which cannot be fetched now")
    }
    print(article.html)
    if Console.isWatched { Console.complain(account.closing("info @articles \(id)")) }
  }
}
