public import ArgumentParser
public import Articles
import ExampleProgram
import Larder

struct ListArticles: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "Lists the stored articles, newest first.",
    discussion:
      """
      An archived article is listed if it was opened since. With --online it lists the server's newest unread articles, if \
      the server can be reached.
      """)

  @Argument(help: "Only articles with this text in their title, site or address.")
  var search: String?

  @Option(help: "Only articles with this label.") var label: String?
  @OptionGroup var account: Account
  @Flag(help: "Ask the server for the newest unread articles.") var online = false

  private struct Line: Encodable {
    var id: String
    var title: String
    var site: String
    var created: String
    var url: String
    var labels: [String]
    var isArchived: Bool
    var isMarked: Bool
    var isRead: Bool
    /// Whether it can be read without a network.
    var isKept: Bool
    var bytes: Int?
    var images: Int?
    var isEdited: Bool?
    /// Where these fields come from: `server` or `store`.
    var source: String
    /// Seconds since it was stored.
    var age: Int?

    init(
      _ bookmark: Bookmark, _ kept: StoredArticle?, isOnline: Bool, in reader: ArticleReader
    ) throws {
      id = bookmark.id
      title = bookmark.name
      site = bookmark.siteName
      created = bookmark.created
      url = bookmark.url
      labels = bookmark.labels
      isArchived = bookmark.isArchived
      isMarked = bookmark.isMarked
      isRead = bookmark.isRead
      isKept = kept != nil
      bytes = kept?.size
      images = try kept.map { try reader.imageCount(of: $0) }
      isEdited = kept?.isEdited
      source = isOnline ? "server" : "store"
      age = kept.map { max(0, Int($0.written.duration(to: SystemClock().now) / .seconds(1))) }
    }

    var row: String {
      let mark = isKept ? isEdited == true ? "edited" : "kept" : ""
      return [id.padded(to: 24), String(created.prefix(10)), mark.padded(to: 6)]
        .joined(separator: "  ") + "  " + (isMarked ? "* " : "") + title
        + (isArchived ? "  (archived)" : "") + (isRead ? "  (read)" : "")
    }

    func fits(_ search: String?, _ label: String?) -> Bool {
      let isFound =
        search.map { text in
          [title, site, url].contains { $0.lowercased().contains(text.lowercased()) }
        } ?? true
      return isFound && label.map(labels.contains) ?? true
    }
  }

  func run() async throws {
    let lines = try await account.open { reader in
      guard online else {
        return try reader.stored().map { try Line($0.bookmark, $0, isOnline: false, in: reader) }
      }
      let list = try await reader.unread()
      // Afterwards, because the list tells which of them are edited.
      let kept = try reader.stored()
      for reason in list.unreadable { Console.complain("left out: \(reason)") }
      if list.isOffline { Console.complain("there is no network: these are the stored articles") }
      return try list.bookmarks.map { bookmark in
        try Line(
          bookmark, kept.first { $0.bookmark.id == bookmark.id }, isOnline: !list.isOffline,
          in: reader)
      }
    }.filter { $0.fits(search, label) }
    let name = try account.namespace("articles")
    let first = lines.first(where: \.isKept)?.id.larderWord
    try account.show(
      lines, closing: first.map { ["info \(name) \($0)", "get \(name) \($0)"] } ?? [],
      lines.map(\.row) + [lines.count.counted("article")])
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
      let article = try await Failure.orNoSuchKey { try await reader.article(id: id.text) }
      try show(article)
      return article
    }
    if article.isRefused { throw ExitCode(Failure.Code.refused.rawValue) }
  }

  private func show(_ article: Article) throws {
    if article.isOutdated || article.reason != nil {
      let other = article.isOutdated ? "a newer one" : "the server's"
      let reason = article.reason.map { ": " + $0 } ?? ""
      Console.complain("this is the stored version; \(other) cannot be fetched now\(reason)")
    }
    if account.place.store.json { return try account.show(article, []) }
    try Output.write(document: article.html)
    let name = try account.namespace("articles")
    account.place.closeAtTerminal("info \(name) \(id.text.larderWord)")
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
    let report = try await account.open { try await $0.edit(id.text, kind) }
    try account.show(report, report.rows)
    try report.check()
  }
}

struct Outbox: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Lists the changes that the server does not have yet; --send sends them.",
    discussion: "The exit code is 5 if the server refuses the user, or has dropped a change.")

  @OptionGroup var account: Account
  @Flag(help: "Send them now.") var send = false

  @Option(help: ArgumentHelp("Gives up the changes of an article.", valueName: "id"))
  var drop: NonEmpty?

  func validate() throws {
    if send, drop != nil { throw ValidationError("give either --send or --drop") }
  }

  private struct Line: Encodable {
    var article: String
    var title: String
    var kind: PendingEdit.Kind
    var made: String
  }

  func run() async throws {
    try await account.open { reader in
      if let drop {
        let count = try await reader.dropEdits(of: drop.text)
        return try account.show(count, ["\(count.counted("change")) given up"])
      }
      if send {
        let line = ProgressLine.atTerminal
        let report = try await reader.sendEdits { done, count in
          line?.advance("changes", done: done, of: count)
        }
        line?.clear()
        try account.show(report, report.rows)
        try report.check()
        if report.left > 0 { throw ExitCode(Failure.Code.failed.rawValue) }
        return
      }
      let others = try reader.othersPendingEdits()
      if others > 0 {
        Console.complain(
          "\(others.counted("change")) of another token or server, which sends them: --token, --server, --offline"
        )
      }
      let edits = try reader.pendingEdits()
      let lines = edits.map {
        Line(article: $0.article, title: $0.title, kind: $0.kind, made: "\($0.made)")
      }
      try account.show(
        lines,
        edits.map { "\($0.made)  \($0.text)" } + ["\(edits.count.counted("change")) not sent yet"])
    }
  }
}

extension PendingEdit.Kind: ExpressibleByArgument {}

extension OutboxReport {
  var rows: [String] {
    ["\(sent) sent, \(left) waiting"] + conflicts.map { "not sent: " + $0 }
      + reasons.map { "not sent yet: " + $0 }
  }

  /// Throws if the service refuses the user, or changes were dropped.
  func check() throws {
    if isRefused { Console.complain("hint: give a valid credential: \(LarderArticles.credential)") }
    if isRefused || !conflicts.isEmpty { throw ExitCode(Failure.Code.refused.rawValue) }
  }
}
