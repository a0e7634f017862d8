public import ArgumentParser
public import Articles
import ExampleProgram
import Larder

struct ListArticles: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "Lists the stored articles, newest first.",
    discussion: "With --online it lists the server's newest unread articles, if it can be reached.")

  @Argument(help: "Only articles with this text in their title, site or address.")
  var search: String?

  @OptionGroup var account: Account
  @Flag(help: "Ask the server for the newest unread articles.") var online = false

  private struct Line: Encodable {
    var bookmark: Bookmark
    /// Whether it can be read without a network.
    var isKept: Bool
    var isEdited: Bool?
    /// Where the bookmark comes from: `server` or `store`.
    var source: String
    /// Seconds since it was stored.
    var age: Int?

    var row: String {
      let mark = isKept ? isEdited == true ? "edited" : "kept" : ""
      return [bookmark.id.padded(to: 24), String(bookmark.created.prefix(10)), mark.padded(to: 6)]
        .joined(separator: "  ") + (bookmark.isMarked ? "  * " : "  ") + bookmark.name
        + (bookmark.isRead ? "  (read)" : "")
    }
  }

  func run() async throws {
    let lines = try await account.open { reader in
      let list = online ? try await reader.unread() : nil
      // Afterwards, because the list tells which of them are edited.
      let stored = try reader.stored()
      for reason in list?.unreadable ?? [] { Console.complain("left out: \(reason)") }
      if list?.isOffline == true {
        Console.complain("there is no network: these are the stored articles")
      }
      return (list?.bookmarks ?? stored.map(\.bookmark)).filter(isWanted).map { bookmark in
        let kept = stored.first { $0.bookmark.id == bookmark.id }
        let age = kept.map { max(.zero, $0.written.duration(to: SystemClock().now)) }
        return Line(
          bookmark: bookmark, isKept: kept != nil, isEdited: kept?.isEdited,
          source: list?.isOffline == false ? "server" : "store",
          age: age.map { Int($0 / .seconds(1)) })
      }
    }
    let first = lines.first(where: \.isKept)?.bookmark.id.larderWord
    try account.show(
      lines, closing: first.map { ["info @ \($0)", "get @ \($0)"] } ?? [],
      lines.map(\.row) + [lines.count.counted("article")])
  }

  private func isWanted(_ bookmark: Bookmark) -> Bool {
    guard let search = search?.lowercased() else { return true }
    return [bookmark.name, bookmark.siteName, bookmark.url].contains {
      $0.lowercased().contains(search)
    }
  }
}

struct ShowArticle: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show",
    abstract: "Prints an article's HTML; one that is not stored is fetched with its images.",
    discussion: """
      An edited article is fetched again; if that fails, the stored version is printed. The exit code is 5 if the server \
      refuses the user.
      """)

  @Argument(help: "The id, as `list` prints it.") var id: NonEmpty
  @OptionGroup var account: Account

  func run() async throws {
    // The article is printed before its images are fetched.
    let article = try await account.open { reader in
      let article = try await Failure.orNoSuchKey { try await reader.article(id.text) }
      if let reason = article.reason {
        Console.complain("this is the stored version; a newer one cannot be fetched now: \(reason)")
      }
      if account.place.store.json {
        try account.show(article, [])
      } else {
        try Output.write(document: article.html)
      }
      return article
    }
    if article.isRefused { throw ExitCode(Failure.Code.refused.rawValue) }
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

  @Argument(help: "The id, as `list` prints it.") var id: NonEmpty
  @OptionGroup var account: Account

  func run() async throws {
    let report = try await account.open { reader in
      try await Failure.orNoSuchKey { try await reader.edit(id.text, kind) }
    }
    try account.show(report, ["\(report.sent) sent, \(report.left) waiting"])
    report.complain()
    try report.check()
  }
}

extension PendingEdit.Kind: ExpressibleByArgument {}

extension OutboxReport {
  func complain() {
    for conflict in conflicts { Console.complain("not sent: \(conflict)") }
    for reason in reasons { Console.complain("not sent yet: \(reason)") }
    if isRefused { Console.complain("hint: give a valid credential: --token or READECK_TOKEN") }
  }

  /// Throws if the service refuses the user, or changes were dropped.
  func check() throws {
    if isRefused || !conflicts.isEmpty { throw ExitCode(Failure.Code.refused.rawValue) }
  }
}

struct Settings: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Changes the settings, and prints them, what is stored, and what was not sent yet.",
    discussion: "Articles and images beyond a lower limit are removed at once.")

  @OptionGroup var account: Account
  @Flag(inversion: .prefixedNo, exclusivity: .exclusive, help: "Store articles.") var on: Bool?
  @Option(help: "The most articles: 0, 10, 20, ... 100.") var articles: Int?

  @Flag(
    inversion: .prefixedNo, exclusivity: .exclusive, help: "Store their images; off by default.")
  var images: Bool?

  @Option(help: "The most megabytes of images: 50 to 1200.") var imageMegabytes: Int?

  private struct Report: Encodable {
    var settings: OfflineSettings
    var usage: ArticleUsage
    var edits: [PendingEdit]
  }

  func run() async throws {
    let report = try await account.open { reader in
      let before = try reader.settings()
      let settings = OfflineSettings(
        isOn: on ?? before.isOn, articles: articles ?? before.articles,
        keepsImages: images ?? before.keepsImages,
        imageMegabytes: imageMegabytes ?? before.imageMegabytes)
      guard settings.articles == articles ?? before.articles,
        settings.imageMegabytes == imageMegabytes ?? before.imageMegabytes
      else {
        throw Failure(
          .usage, "these numbers are not possible",
          hint: "give --articles 0, 10, 20, ... 100, and --image-megabytes 50 to 1200")
      }
      if settings != before { try await reader.change(settings) }
      return Report(
        settings: settings, usage: try reader.usage(), edits: try reader.pendingEdits())
    }
    let (settings, usage) = (report.settings, report.usage)
    try account.show(
      report, closing: ["namespaces", "count @"],
      [
        "offline reading  \(settings.isOn ? "on" : "off")",
        "articles         at most \(settings.articles)",
        "images           "
          + (settings.keepsImages ? "at most \(settings.imageMegabytes) MB" : "not kept"),
        "stored           \(usage.text)", "last sync        \(usage.lastSync ?? "never")",
      ] + report.edits.map { "not sent yet     \($0.made)  \($0.text)" })
  }
}

struct SignOut: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sign-out",
    abstract: "Removes all data of the user, unsent changes included; the settings stay.")

  @OptionGroup var account: Account

  func run() async throws {
    let usage = try await account.open { reader in
      let usage = try reader.usage()
      try await reader.signOut()
      return usage
    }
    let lost = usage.pendingEdits
    try account.show(
      usage,
      ["removed: \(usage.text)"] + (lost > 0 ? ["lost: \(lost.counted("unsent change"))"] : []))
  }
}
