import ArgumentParser
import Catalog
import ExampleProgram
import Larder

struct Refresh: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract:
      "Forgets what the catalog said of a funnel, so that the server is asked for it again.",
    discussion: "Its questions stay as long as the server said.")

  @Argument(help: "The slug, as `list` prints it.")
  var slug: String

  @OptionGroup var account: Account

  @Flag(help: "Print what was forgotten as JSON.")
  var json = false

  func run() async throws {
    let removal = try await account.open { try await $0.refresh(slug) }
    let forgotten = Forgotten(removal, slug: slug)
    print(json ? try JSONOutput.text(forgotten) : forgotten.text)
    if !json { print(account.place.closing("namespaces")) }
  }
}

struct SignOut: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sign-out",
    abstract: "Forgets everything that is kept of the user's catalog.")

  @OptionGroup var account: Account

  @Flag(help: "Print what was forgotten as JSON.")
  var json = false

  func run() async throws {
    let removal = try await account.open { try await $0.signOut() }
    let forgotten = Forgotten(removal, user: account.user)
    print(
      json ? try JSONOutput.text(forgotten) : "nothing is kept of \(account.user) any more")
    if !json { print(forgotten.text, account.place.closing("namespaces"), separator: "\n") }
  }
}

/// What a command has ended.
private struct Forgotten: Encodable {
  var user: String?
  var slug: String?
  var answers: Int
  var bytes: Int

  init(_ removal: RemovalResult, user: String? = nil, slug: String? = nil) {
    (self.user, self.slug) = (user, slug)
    (answers, bytes) = (removal.entries, removal.bytes)
  }

  var text: String { "\(answers) answer\(answers == 1 ? "" : "s") forgotten, \(bytes) bytes" }
}
