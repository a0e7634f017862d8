public import ArgumentParser
public import Articles
import ExampleProgram
import Larder

struct ListArticles: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "Lists the stored articles, newest first.")

  @OptionGroup var account: Account

  func run() async throws {
    try await account.show { reader in
      let rows = try reader.stored().map { article in
        let bookmark = article.bookmark
        return bookmark.id.padded(to: 24) + (article.isEdited ? "  edited" : "  kept  ")
          + (bookmark.isMarked ? "  * " : "  ") + bookmark.name
          + (bookmark.isRead ? "  (read)" : "")
      }
      return rows + [rows.count.counted("article")]
    }
  }
}

struct ShowArticle: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show",
    abstract: "Prints an article's HTML; one that is not stored is fetched with its images.",
    discussion: "An edited article is fetched again; if that fails, the stored version is printed.")

  @Argument(help: "The id, as `list` prints it.") var id: String
  @OptionGroup var account: Account

  func run() async throws {
    try await account.show { reader in
      let article = try await Failure.orNoSuchKey { try await reader.article(id) }
      if let error = article.error {
        let state = "the stored version; a newer one cannot be fetched now"
        Console.complain("this is \(article.isKept ? state : "not stored"): \(error)")
      }
      // The article is printed first, because its images may take long.
      try Output.write(article.html, isDocument: true)
      return []
    }
  }
}

struct EditArticle: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "edit",
    abstract: "Archives, marks, reads or deletes an article, also without a network.",
    discussion: """
      archive, unarchive    leaves the list of unread articles, or comes back
      mark, unmark          is a favourite, or none
      read, unread          was read to its end, or not at all
      delete                is removed at the server too

      The change is stored and sent to the server as soon as that can be reached, at the latest by the next sync. A later \
      change at the server wins.
      """)

  @Argument(help: "One of \(PendingEdit.Kind.allCases.map(\.rawValue).joined(separator: ", ")).")
  var kind: PendingEdit.Kind

  @Argument(help: "The id, as `list` prints it.") var id: String
  @OptionGroup var account: Account

  func run() async throws {
    try await account.show { reader in
      let report = try await Failure.orNoSuchKey { try await reader.edit(id, kind) }
      try account.place.show(["\(report.sent) sent, \(report.left) waiting"])
      report.complain()
      if !report.conflicts.isEmpty { throw ExitCode(Failure.Code.refused.rawValue) }
      return []
    }
  }
}

extension PendingEdit.Kind: ExpressibleByArgument {}

extension OutboxReport {
  func complain() {
    for conflict in conflicts { Console.complain("not sent: \(conflict)") }
    for reason in reasons { Console.complain("not sent yet: \(reason)") }
  }
}

struct Settings: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Changes the settings, and prints them, what is stored, and what was not sent yet.",
    discussion: "Articles and images beyond a lower limit are removed at once.")

  @OptionGroup var account: Account
  @Flag(inversion: .prefixedNo, exclusivity: .exclusive, help: "Store articles.") var on: Bool?
  @Option(help: "The most articles: 0, 10, 20, ... 100.") var articles: Int?
  @Flag(inversion: .prefixedNo, exclusivity: .exclusive, help: "Store images; off by default.")
  var images: Bool?
  @Option(help: "The most megabytes of images: 50 to 1200.") var imageMegabytes: Int?

  func run() async throws {
    try await account.show { reader in
      let before = try reader.settings()
      let settings = OfflineSettings(
        isOn: on, articles: articles, keepsImages: images, imageMegabytes: imageMegabytes,
        over: before)
      if settings != before { try await reader.change(settings) }
      let usage = try reader.usage()
      return try [
        "offline reading  \(settings.isOn ? "on" : "off")",
        "articles         at most \(settings.articles)",
        "images           "
          + (settings.keepsImages ? "at most \(settings.imageMegabytes) MB" : "not kept"),
        "stored           \(usage.text)",
        "last sync        \(usage.lastSync?.description ?? "never")",
      ] + reader.pendingEdits().map { "not sent yet     \($0.made)  \($0.text)" }
    }
  }
}

struct SignOut: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sign-out",
    abstract: "Removes all data of the user, unsent changes included; the settings stay.")

  @OptionGroup var account: Account

  func run() async throws {
    try await account.show { reader in
      let (usage, edits) = (try reader.usage(), try reader.pendingEdits())
      try await reader.signOut()
      return ["removed: \(usage.text), \(edits.count.counted("unsent change"))"]
    }
  }
}
