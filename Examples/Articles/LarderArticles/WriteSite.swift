import ArgumentParser
import Articles
import ExampleProgram
import Foundation

struct WriteSite: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "site",
    abstract: "Writes the stored articles as one page for a browser, with their images.",
    discussion: """
      The page is DIR/index.html. It has the text of the articles without their scripts, styles and forms, and loads nothing \
      but the stored images beside it. Drawings (SVG) that may run code or load something are left out and named.
      """)

  @Argument(help: "The folder; created if it does not exist.") var dir: NonEmpty
  @OptionGroup var account: Account

  func run() async throws {
    let report = try await account.open { reader in
      let line = ProgressLine.atTerminal
      defer { line?.clear() }
      return try await reader.writeSite(to: URL(filePath: dir.text)) { done, all in
        line?.advance("articles", done: done, of: all)
      }
    }
    for address in report.leftOut {
      Console.complain("left out: \(address): the drawing may run code or load something")
    }
    let size = ArticleUsage.size(report.bytes)
    try account.show(
      report, closing: ["keys \(try account.namespace("articles")) --limit 5", "namespaces"],
      ["\(dir.text)/index.html: \(report.articles) articles and \(report.images) images, \(size)"])
  }
}
